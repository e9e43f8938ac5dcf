package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"foyer/origin"
)

// stockColumns are read by scanStock.
const stockColumns = `id, name, capacity, amount, currency, max_per_buyer, sold, held, epoch`

// PutEvent implements [origin.Ledger].
func (s *Store) PutEvent(ctx context.Context, event origin.Event) (origin.Stock, error) {
	const put = `
		insert into events as e (id, name, capacity, file_capacity, amount, currency, max_per_buyer, created_at)
		values (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7)
		on conflict (id) do update set
			name = excluded.name, amount = excluded.amount, currency = excluded.currency,
			max_per_buyer = excluded.max_per_buyer,
			capacity = case when e.file_capacity = excluded.file_capacity then e.capacity
				else max(excluded.capacity, e.held + e.sold) end,
			file_capacity = excluded.file_capacity
		returning ` + stockColumns
	var stock origin.Stock
	err := s.write(ctx, "put event "+event.ID, func(tx *sql.Tx, now time.Time) (err error) {
		stock, err = scanStock(now, tx.QueryRowContext(ctx, put,
			event.ID, event.Name, event.Capacity, event.Amount, event.Currency, event.MaxPerBuyer, now.UnixMicro()))
		return err
	})
	return stock, err
}

// Events implements [origin.Ledger].
func (s *Store) Events(ctx context.Context) ([]origin.Stock, error) {
	rows, err := s.reader.QueryContext(ctx, `select `+stockColumns+` from events order by id`)
	if err != nil {
		return nil, wrap("list events", err)
	}
	defer rows.Close()
	var stocks []origin.Stock
	for rows.Next() {
		stock, err := scanStock(s.now(), rows)
		if err != nil {
			return nil, wrap("list events", err)
		}
		stocks = append(stocks, stock)
	}
	return stocks, wrap("list events", rows.Err())
}

// Event implements [origin.Ledger].
func (s *Store) Event(ctx context.Context, id string) (origin.Stock, bool, error) {
	stock, err := scanStock(s.now(), s.reader.QueryRowContext(ctx, `select `+stockColumns+` from events where id = ?1`, id))
	ok, err := found(err)
	return stock, ok, wrap("read event "+id, err)
}

// Resize implements [origin.Ledger].
func (s *Store) Resize(ctx context.Context, event string, capacity int64) (origin.Stock, origin.Refusal, error) {
	const resize = `update events set capacity = ?2 where id = ?1 and held + sold <= ?2 returning ` + stockColumns
	var (
		stock   origin.Stock
		refusal origin.Refusal
	)
	err := s.write(ctx, "resize event "+event, func(tx *sql.Tx, now time.Time) (err error) {
		stock, err = scanStock(now, tx.QueryRowContext(ctx, resize, event, capacity))
		ok, err := found(err)
		if err != nil || ok {
			return err
		}
		refusal = origin.CapacityInUse
		stock, err = readStock(ctx, tx, now, event)
		if stock.ID == "" {
			refusal = origin.NoSuchEvent
		}
		return err
	})
	return stock, refusal, err
}

// RaiseEpoch raises an event's epoch from the one seen, so that of several who saw it only one does. It answers with the
// stock as it stands.
func (s *Store) RaiseEpoch(ctx context.Context, event string, seen int64) (origin.Stock, bool, error) {
	const raise = `update events set epoch = epoch + 1 where id = ?1 and epoch = ?2 returning ` + stockColumns
	var (
		stock  origin.Stock
		raised bool
	)
	err := s.write(ctx, "raise epoch of "+event, func(tx *sql.Tx, now time.Time) (err error) {
		stock, err = scanStock(now, tx.QueryRowContext(ctx, raise, event, seen))
		if raised, err = found(err); err != nil || raised {
			return err
		}
		stock, err = readStock(ctx, tx, now, event)
		return err
	})
	return stock, raised, err
}

// row is a *sql.Row or *sql.Rows.
type row interface{ Scan(into ...any) error }

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readStock reads an event; the stock has no ID where there is none.
func readStock(ctx context.Context, q querier, now time.Time, event string) (origin.Stock, error) {
	stock, err := scanStock(now, q.QueryRowContext(ctx, `select `+stockColumns+` from events where id = ?1`, event))
	_, err = found(err)
	return stock, err
}

func scanStock(now time.Time, row row) (origin.Stock, error) {
	var s origin.Stock
	err := row.Scan(&s.ID, &s.Name, &s.Capacity, &s.Amount, &s.Currency, &s.MaxPerBuyer, &s.Sold, &s.Held, &s.Epoch)
	if err == nil {
		s.AsOf = now
	}
	return s, err
}
