package pgstore

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// These columns are read by scanHold, scanAttempt and scanOrder.
const (
	holdColumns    = `h.id, h.event, h.buyer, h.quantity, h.amount, h.currency, h.state, h.reason, h.created_at, h.expires_at`
	attemptColumns = `a.id, a.hold, a.event, a.buyer, a.method, coalesce(a.intent, ''), a.charge, a.reason, a.amount, a.currency,
		a.state, clock_timestamp() - a.created_at`
	orderColumns = `o.id, o.hold, o.event, o.buyer, o.quantity, o.amount, o.currency, o.attempt, o.charge, o.refunded, o.created_at`
)

// readBooks locks a hold and an attempt of it and reads what belongs to them, in one round trip. With moving set the
// event's row is locked before them, which whoever moves units must ask for. Where there is no such attempt the hold's
// open one is read.
func readBooks(ctx context.Context, tx pgx.Tx, hold, attempt string, moving bool) (origin.Books, error) {
	var b origin.Books
	batch := &pgx.Batch{}
	if moving {
		batch.Queue(`select `+stockColumns+` from events where id = (select event from holds where id = $1) for no key update`, hold).
			QueryRow(optional(func(row pgx.Row) (err error) { b.Stock, err = scanStock(row); return err }))
	}
	batch.Queue(`select `+holdColumns+` from holds h where h.id = $1 for no key update`, hold).
		QueryRow(optional(func(row pgx.Row) (err error) { b.Hold, err = scanHold(row); return err }))
	batch.Queue(`select `+attemptColumns+` from attempts a where a.hold = $1 and (a.id = $2 or a.state = 'open')
		order by a.id = $2 desc limit 1 for no key update`, hold, attempt).
		QueryRow(optional(func(row pgx.Row) (err error) { b.Attempt, err = scanAttempt(row); return err }))
	batch.Queue(`select units from buyers where (event, buyer) = (select event, buyer from holds where id = $1)`, hold).
		QueryRow(optional(func(row pgx.Row) error { return row.Scan(&b.Units) }))
	batch.Queue(`select `+orderColumns+` from orders o where o.hold = $1`, hold).
		QueryRow(optional(func(row pgx.Row) (err error) { b.Order, err = scanOrder(row); return err }))
	batch.Queue(`select clock_timestamp()`).QueryRow(func(row pgx.Row) error { return row.Scan(&b.Now) })
	err := tx.SendBatch(ctx, batch).Close()
	b.Hold.Order = b.Order.ID
	b.Now = b.Now.UTC()
	return b, err
}

// writeMove writes a move in one round trip and returns the books after it.
func writeMove(ctx context.Context, tx pgx.Tx, b origin.Books, move origin.Move) (origin.Books, error) {
	if move == (origin.Move{}) {
		return b, nil
	}
	b = b.Apply(move, newOrder())
	written := newMoves(b.Hold.Event, b.Stock.MaxPerBuyer, b.Now)
	written.add(b, move)
	batch := &pgx.Batch{}
	written.queue(batch)
	return b, tx.SendBatch(ctx, batch).Close()
}

func newOrder() string { return "ord_" + rand.Text() }

// optional leaves the zero value where there is no row.
func optional(scan func(row pgx.Row) error) func(row pgx.Row) error {
	return func(row pgx.Row) error {
		_, err := found(scan(row))
		return err
	}
}

func scanHold(row pgx.Row, more ...any) (origin.Hold, error) {
	var h origin.Hold
	into := append([]any{&h.ID, &h.Event, &h.Buyer, &h.Quantity, &h.Amount, &h.Currency, &h.State, &h.Reason, &h.CreatedAt, &h.ExpiresAt}, more...)
	err := row.Scan(into...)
	h.CreatedAt, h.ExpiresAt = h.CreatedAt.UTC(), h.ExpiresAt.UTC()
	return h, err
}

func scanAttempt(row pgx.Row) (origin.Attempt, error) {
	var a origin.Attempt
	err := row.Scan(&a.ID, &a.Hold, &a.Event, &a.Buyer, &a.Method, &a.Intent, &a.Charge, &a.Reason, &a.Amount, &a.Currency, &a.State, &a.Age)
	a.Age = max(a.Age, 0).Round(time.Microsecond)
	return a, err
}

func scanOrder(row pgx.Row) (origin.Order, error) {
	var o origin.Order
	err := row.Scan(&o.ID, &o.Hold, &o.Event, &o.Buyer, &o.Quantity, &o.Amount, &o.Currency, &o.Attempt, &o.Charge, &o.Refunded, &o.CreatedAt)
	o.CreatedAt = o.CreatedAt.UTC()
	return o, err
}
