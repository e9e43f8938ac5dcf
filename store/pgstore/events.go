package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// stockColumns are read by scanStock.
const stockColumns = `id, name, capacity, amount, currency, max_per_buyer, sold, held, epoch, clock_timestamp()`

// PutEvent implements [origin.Ledger].
func (s *Store) PutEvent(ctx context.Context, event origin.Event) (origin.Stock, error) {
	const put = `
		insert into events as e (id, name, capacity, file_capacity, amount, currency, max_per_buyer)
		values ($1, $2, $3, $3, $4, $5, $6)
		on conflict (id) do update set
			name = excluded.name, amount = excluded.amount, currency = excluded.currency,
			max_per_buyer = excluded.max_per_buyer,
			capacity = case when e.file_capacity = excluded.file_capacity then e.capacity
				else greatest(excluded.capacity, e.held + e.sold) end,
			file_capacity = excluded.file_capacity
		returning ` + stockColumns
	stock, err := scanStock(s.pool.QueryRow(ctx, put,
		event.ID, event.Name, event.Capacity, event.Amount, event.Currency, event.MaxPerBuyer))
	return stock, wrap("put event "+event.ID, err)
}

// Events implements [origin.Ledger].
func (s *Store) Events(ctx context.Context) ([]origin.Stock, error) {
	rows, err := s.pool.Query(ctx, `select `+stockColumns+` from events order by id`)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	stocks, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (origin.Stock, error) { return scanStock(row) })
	return stocks, wrap("list events", err)
}

// Event implements [origin.Ledger].
func (s *Store) Event(ctx context.Context, id string) (origin.Stock, bool, error) {
	stock, err := scanStock(s.pool.QueryRow(ctx, `select `+stockColumns+` from events where id = $1`, id))
	ok, err := found(err)
	return stock, ok, wrap("read event "+id, err)
}

// Resize implements [origin.Ledger].
func (s *Store) Resize(ctx context.Context, event string, capacity int64) (origin.Stock, origin.Refusal, error) {
	const resize = `update events set capacity = $2 where id = $1 and held + sold <= $2 returning ` + stockColumns
	stock, err := scanStock(s.pool.QueryRow(ctx, resize, event, capacity))
	ok, err := found(err)
	if err != nil || ok {
		return stock, origin.NotRefused, wrap("resize event "+event, err)
	}
	stock, ok, err = s.Event(ctx, event)
	if err != nil {
		return stock, origin.NotRefused, err
	}
	if !ok {
		return stock, origin.NoSuchEvent, nil
	}
	return stock, origin.CapacityInUse, nil
}

// RaiseEpoch raises an event's epoch from the one seen, so that of several who saw it only one does. It answers with the
// stock as it stands.
func (s *Store) RaiseEpoch(ctx context.Context, event string, seen int64) (origin.Stock, bool, error) {
	const raise = `update events set epoch = epoch + 1 where id = $1 and epoch = $2 returning ` + stockColumns
	stock, err := scanStock(s.pool.QueryRow(ctx, raise, event, seen))
	ok, err := found(err)
	if err != nil || ok {
		return stock, ok, wrap("raise epoch of "+event, err)
	}
	stock, _, err = s.Event(ctx, event)
	return stock, false, err
}

func scanStock(row pgx.Row) (origin.Stock, error) {
	var s origin.Stock
	err := row.Scan(&s.ID, &s.Name, &s.Capacity, &s.Amount, &s.Currency, &s.MaxPerBuyer, &s.Sold, &s.Held, &s.Epoch, &s.AsOf)
	s.AsOf = s.AsOf.UTC()
	return s, err
}
