package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// MoveGroup implements strategy.Ledger: one transaction, of one round trip that locks and reads and one that writes.
func (s *Store) MoveGroup(ctx context.Context, event string, wishes []origin.Wish) ([]origin.Granted, error) {
	granted := make([]origin.Granted, len(wishes))
	err := s.inTx(ctx, "move holds of "+event, func(tx pgx.Tx) error {
		b, err := lockBundle(ctx, tx, event, wishes)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		before := b.Stock
		for i, wish := range wishes {
			var (
				books origin.Books
				move  origin.Move
			)
			if granted[i], books, move = b.Grant(wish, newOrder()); move != (origin.Move{}) {
				queueMove(batch, books, move)
			}
		}
		if b.Stock != before {
			queueStock(batch, event, b.Stock.Held-before.Held, b.Stock.Sold-before.Sold)
		}
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
