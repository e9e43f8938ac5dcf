package sqlitestore

import (
	"context"

	"foyer/origin"
)

// Audit implements [origin.Ledger]: one statement, hence one snapshot.
func (s *Store) Audit(ctx context.Context, event string) (origin.Audit, bool, error) {
	const audit = `
		with h as (
			select
				coalesce(sum(quantity) filter (where state in ('pending', 'active', 'paying')), 0) as held_rows,
				coalesce(sum(quantity) filter (where state = 'sold'), 0) as sold_rows,
				count(*) filter (where state = 'active') as active,
				count(*) filter (where state = 'paying') as paying,
				count(*) filter (where state = 'pending') as pending
			from holds where event = ?1
		), o as (
			select count(*) as orders from orders where event = ?1
		), a as (
			select
				count(*) filter (where state in ('paid', 'refund_due', 'refunded')) as captured,
				count(*) filter (where state = 'refunded') as refunded
			from attempts where event = ?1
		)
		select held_rows, sold_rows, active, paying, pending, orders, captured, refunded, ` + stockColumns + `
		from events, h, o, a where id = ?1`
	var got origin.Audit
	stock := &got.Stock
	err := s.reader.QueryRowContext(ctx, audit, event).Scan(
		&got.HeldRows, &got.SoldRows, &got.Active, &got.Paying, &got.Pending, &got.Orders, &got.ChargesCaptured, &got.ChargesRefunded,
		&stock.ID, &stock.Name, &stock.Capacity, &stock.Amount, &stock.Currency, &stock.MaxPerBuyer, &stock.Sold, &stock.Held, &stock.Epoch)
	ok, err := found(err)
	if ok {
		got.AsOf = s.now()
	}
	return got, ok, wrap("audit event "+event, err)
}
