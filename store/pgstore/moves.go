package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// MoveGroup implements strategy.Ledger: one transaction, with one round trip that locks and reads and one that writes.
func (s *Store) MoveGroup(ctx context.Context, event string, wishes []origin.Wish) ([]origin.Granted, error) {
	granted := make([]origin.Granted, len(wishes))
	err := s.inTx(ctx, "move holds of "+event, func(tx pgx.Tx) error {
		b, err := lockBundle(ctx, tx, event, wishes)
		if err != nil {
			return err
		}
		written := newMoves(event, b.Stock.MaxPerBuyer, b.Now)
		for i, wish := range wishes {
			var (
				books origin.Books
				move  origin.Move
			)
			if granted[i], books, move = b.Grant(wish, newOrder()); move != (origin.Move{}) {
				written.add(books, move)
			}
		}
		batch := &pgx.Batch{}
		written.queue(batch)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// unitsOfHolds looks each hold's buyer up, like unitsOf.
const unitsOfHolds = `
	select h.buyer, b.units from holds h,
	lateral (select units from buyers where event = $1 and buyer = h.buyer limit 1) b where h.id = any($2)`

// lockBundle locks the event, its holds and their attempts in the order of the package, and reads what belongs to them.
// Adding nothing to an event's name keeps the planner from reading all rows of the event (see unitsOf).
func lockBundle(ctx context.Context, tx pgx.Tx, event string, wishes []origin.Wish) (origin.Bundle, error) {
	b := origin.NewBundle()
	holds, attempts := make([]string, len(wishes)), make([]string, len(wishes))
	for i, wish := range wishes {
		holds[i], attempts[i] = wish.Hold, wish.Settle.Attempt
	}
	batch := &pgx.Batch{}
	batch.Queue(`select `+stockColumns+` from events where id = $1 for no key update`, event).
		QueryRow(optional(func(row pgx.Row) (err error) { b.Stock, err = scanStock(row); return err }))
	batch.Queue(`select `+holdColumns+` from holds h where h.id = any($1) and h.event || '' = $2 for no key update`, holds, event).
		Query(eachRow(func(row pgx.Row) error {
			hold, err := scanHold(row)
			b.Holds[hold.ID] = hold
			return err
		}))
	batch.Queue(`select `+attemptColumns+` from attempts a where a.id = any($1) and a.event || '' = $2 for no key update`, attempts, event).
		Query(eachRow(func(row pgx.Row) error {
			attempt, err := scanAttempt(row)
			b.Attempts[attempt.ID] = attempt
			return err
		}))
	batch.Queue(unitsOfHolds, event, holds).
		Query(eachRow(func(row pgx.Row) error {
			var (
				buyer string
				units int64
			)
			err := row.Scan(&buyer, &units)
			b.Units[buyer] = units
			return err
		}))
	batch.Queue(`select `+orderColumns+` from orders o where o.hold = any($1)`, holds).
		Query(eachRow(func(row pgx.Row) error {
			order, err := scanOrder(row)
			b.Orders[order.Hold] = order
			return err
		}))
	batch.Queue(`select clock_timestamp()`).QueryRow(func(row pgx.Row) error { return row.Scan(&b.Now) })
	err := tx.SendBatch(ctx, batch).Close()
	b.Now = b.Now.UTC()
	return b, err
}

// eachRow scans every row.
func eachRow(scan func(row pgx.Row) error) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// moves are what is to be written of an event: holds and buyers to which the same happens share a statement.
type moves struct {
	event      string
	limit      int64 // of units a buyer
	now        time.Time
	held, sold int64             // to be added to the event's
	holds      map[string]ending // by id
	units      map[string]int64  // to be added, by buyer
	attempts   []origin.Attempt
	orders     []origin.Order
}

// ending is a hold's new state, and whether it ends by it.
type ending struct {
	state origin.HoldState
	ended bool
}

func newMoves(event string, limit int64, now time.Time) *moves {
	return &moves{event: event, limit: limit, now: now, holds: map[string]ending{}, units: map[string]int64{}}
}

// add adds a move with the books as they are after it. Of two moves of one hold the later one counts.
func (m *moves) add(b origin.Books, move origin.Move) {
	m.held, m.sold = m.held+move.Held, m.sold+move.Sold
	if move.Hold != "" {
		m.holds[b.Hold.ID] = ending{state: move.Hold, ended: move.Frees()}
	}
	if move.Units != 0 {
		m.units[b.Hold.Buyer] += move.Units
	}
	if move.Attempt != "" {
		m.attempts = append(m.attempts, b.Attempt)
	}
	if move.Order {
		m.orders = append(m.orders, b.Order)
	}
}

// queue writes the moves. Buyers are found by where they lie, like the keys of SweepKeys: see unitsOf.
func (m *moves) queue(batch *pgx.Batch) {
	const (
		end   = `update holds set state = $2, ended_at = case when $3 then $4::timestamptz end where id = any($1)`
		count = `update buyers set units = units + $3, max_units = case when $3 > 0 then $4 else max_units end
			where ctid = any(array(select b.ctid from unnest($2::text[]) as n (buyer),
				lateral (select ctid from buyers where event = $1 and buyer = n.buyer limit 1) b))`
		settle = `update attempts set state = $2, charge = $3, reason = $4, touched_at = $5 where id = $1`
		sell   = `insert into orders (id, hold, event, buyer, quantity, amount, currency, attempt, charge, created_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
		stock = `update events set held = held + $2, sold = sold + $3 where id = $1`
	)
	for each, ids := range alike(m.holds) {
		batch.Queue(end, ids, each.state, each.ended, m.now)
	}
	for units, buyers := range alike(m.units) {
		batch.Queue(count, m.event, buyers, units, m.limit)
	}
	for _, a := range m.attempts {
		batch.Queue(settle, a.ID, a.State, a.Charge, a.Reason, m.now)
	}
	for _, o := range m.orders {
		batch.Queue(sell, o.ID, o.Hold, o.Event, o.Buyer, o.Quantity, o.Amount, o.Currency, o.Attempt, o.Charge, o.CreatedAt)
	}
	if m.held != 0 || m.sold != 0 {
		batch.Queue(stock, m.event, m.held, m.sold)
	}
}

// alike gathers the keys that have the same value.
func alike[V comparable](values map[string]V) map[V][]string {
	keys := make(map[V][]string)
	for key, value := range values {
		keys[value] = append(keys[value], key)
	}
	return keys
}
