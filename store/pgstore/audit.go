package pgstore

import (
	"context"

	"foyer/origin"
)

// Audit implements [origin.Ledger]: one statement, hence one snapshot.
func (s *Store) Audit(ctx context.Context, event string) (origin.Audit, bool, error) {
	const audit = `
		select h.held_rows, h.sold_rows, h.active, h.paying, h.pending, o.orders, a.captured, a.refunded, ` + stockColumns + `
		from events,
		lateral (select
			coalesce(sum(quantity) filter (where state in ('pending', 'active', 'paying')), 0)::bigint as held_rows,
			coalesce(sum(quantity) filter (where state = 'sold'), 0)::bigint as sold_rows,
			count(*) filter (where state = 'active') as active,
			count(*) filter (where state = 'paying') as paying,
			count(*) filter (where state = 'pending') as pending
			from holds where event = $1) h,
		lateral (select count(*) as orders from orders where event = $1) o,
		lateral (select
			count(*) filter (where state in ('paid', 'refund_due', 'refunded')) as captured,
			count(*) filter (where state = 'refunded') as refunded
			from attempts where event = $1) a
		where id = $1`
	var got origin.Audit
	s0 := &got.Stock
	err := s.pool.QueryRow(ctx, audit, event).Scan(
		&got.HeldRows, &got.SoldRows, &got.Active, &got.Paying, &got.Pending, &got.Orders, &got.ChargesCaptured, &got.ChargesRefunded,
		&s0.ID, &s0.Name, &s0.Capacity, &s0.Amount, &s0.Currency, &s0.MaxPerBuyer, &s0.Sold, &s0.Held, &s0.Epoch, &s0.AsOf)
	ok, err := found(err)
	got.AsOf = got.AsOf.UTC()
	return got, ok, wrap("audit event "+event, err)
}
