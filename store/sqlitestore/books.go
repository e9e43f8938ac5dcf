package sqlitestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"

	"foyer/origin"
)

// These columns are read by scanHold, scanAttempt and scanOrder.
const (
	holdColumns = `h.id, h.event, h.buyer, h.quantity, h.amount, h.currency, h.state, h.reason, h.created_at, h.expires_at,
		coalesce((select o.id from orders o where o.hold = h.id), '')`
	attemptColumns = `a.id, a.hold, a.event, a.buyer, a.method, coalesce(a.intent, ''), a.charge, a.reason, a.amount, a.currency,
		a.state, a.created_at`
	orderColumns = `o.id, o.hold, o.event, o.buyer, o.quantity, o.amount, o.currency, o.attempt, o.charge, o.refunded, o.created_at`
)

// readBooks reads a hold and what belongs to it. Where there is no such attempt the hold's open one is read.
func readBooks(ctx context.Context, tx *sql.Tx, now time.Time, hold, attempt string) (origin.Books, error) {
	const (
		holds    = `select ` + holdColumns + ` from holds h where h.id = ?1`
		attempts = `select ` + attemptColumns + ` from attempts a where a.hold = ?1 and (a.id = ?2 or a.state = 'open')
			order by a.id = ?2 desc limit 1`
		orders = `select ` + orderColumns + ` from orders o where o.hold = ?1`
		buyers = `select units from buyers where event = ?1 and buyer = ?2`
	)
	b := origin.Books{Now: now}
	var err error
	b.Hold, err = scanHold(tx.QueryRowContext(ctx, holds, hold))
	if ok, err := found(err); err != nil || !ok {
		return b, err
	}
	if b.Stock, err = readStock(ctx, tx, now, b.Hold.Event); err != nil {
		return b, err
	}
	b.Attempt, err = scanAttempt(now, tx.QueryRowContext(ctx, attempts, hold, attempt))
	if _, err = found(err); err != nil {
		return b, err
	}
	b.Order, err = scanOrder(tx.QueryRowContext(ctx, orders, hold))
	if _, err = found(err); err != nil {
		return b, err
	}
	_, err = found(tx.QueryRowContext(ctx, buyers, b.Hold.Event, b.Hold.Buyer).Scan(&b.Units))
	return b, err
}

// writeMove writes a move and returns the books after it.
func writeMove(ctx context.Context, tx *sql.Tx, b origin.Books, move origin.Move) (origin.Books, error) {
	if move == (origin.Move{}) {
		return b, nil
	}
	b = b.Apply(move, "ord_"+rand.Text())
	now := b.Now.UnixMicro()
	if move.Hold != "" {
		var ended *int64
		if move.Frees() {
			ended = &now
		}
		if _, err := tx.ExecContext(ctx, `update holds set state = ?2, ended_at = ?3 where id = ?1`, b.Hold.ID, move.Hold, ended); err != nil {
			return b, err
		}
	}
	if move.Attempt != "" {
		const write = `update attempts set state = ?2, charge = ?3, reason = ?4, touched_at = ?5 where id = ?1`
		if _, err := tx.ExecContext(ctx, write, b.Attempt.ID, b.Attempt.State, b.Attempt.Charge, b.Attempt.Reason, now); err != nil {
			return b, err
		}
	}
	if move.Units != 0 {
		const write = `update buyers set units = units + ?3, max_units = case when ?3 > 0 then ?4 else max_units end
			where event = ?1 and buyer = ?2`
		if _, err := tx.ExecContext(ctx, write, b.Hold.Event, b.Hold.Buyer, move.Units, b.Stock.MaxPerBuyer); err != nil {
			return b, err
		}
	}
	if move.Held != 0 || move.Sold != 0 {
		const write = `update events set held = held + ?2, sold = sold + ?3 where id = ?1`
		if _, err := tx.ExecContext(ctx, write, b.Hold.Event, move.Held, move.Sold); err != nil {
			return b, err
		}
	}
	if move.Order {
		return b, writeOrder(ctx, tx, b.Order)
	}
	return b, nil
}

func writeOrder(ctx context.Context, tx *sql.Tx, o origin.Order) error {
	const write = `insert into orders (id, hold, event, buyer, quantity, amount, currency, attempt, charge, created_at)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	_, err := tx.ExecContext(ctx, write,
		o.ID, o.Hold, o.Event, o.Buyer, o.Quantity, o.Amount, o.Currency, o.Attempt, o.Charge, o.CreatedAt.UnixMicro())
	return err
}

func scanHold(row row) (origin.Hold, error) {
	var (
		h             origin.Hold
		created, ends int64
	)
	err := row.Scan(&h.ID, &h.Event, &h.Buyer, &h.Quantity, &h.Amount, &h.Currency, &h.State, &h.Reason, &created, &ends, &h.Order)
	if err != nil {
		return origin.Hold{}, err
	}
	h.CreatedAt, h.ExpiresAt = fromMicros(created), fromMicros(ends)
	return h, nil
}

func scanAttempt(now time.Time, row row) (origin.Attempt, error) {
	var (
		a       origin.Attempt
		created int64
	)
	err := row.Scan(&a.ID, &a.Hold, &a.Event, &a.Buyer, &a.Method, &a.Intent, &a.Charge, &a.Reason, &a.Amount, &a.Currency, &a.State, &created)
	if err != nil {
		return origin.Attempt{}, err
	}
	a.Age = max(now.Sub(fromMicros(created)), 0)
	return a, nil
}

func scanOrder(row row) (origin.Order, error) {
	var (
		o       origin.Order
		created int64
	)
	err := row.Scan(&o.ID, &o.Hold, &o.Event, &o.Buyer, &o.Quantity, &o.Amount, &o.Currency, &o.Attempt, &o.Charge, &o.Refunded, &created)
	if err != nil {
		return origin.Order{}, err
	}
	o.CreatedAt = fromMicros(created)
	return o, nil
}
