package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// StartPayment implements [origin.Ledger].
func (s *Store) StartPayment(ctx context.Context, start origin.PaymentStart) (origin.PaymentReply, error) {
	const open = `insert into attempts (id, hold, event, buyer, method, amount, currency, state, created_at, touched_at)
		values ($1, $2, $3, $4, $5, $6, $7, 'open', $8, $8)`
	var reply origin.PaymentReply
	err := s.inTx(ctx, "start payment", func(tx pgx.Tx) error {
		b, err := readBooks(ctx, tx, start.Hold, start.Attempt, false)
		if err != nil {
			return err
		}
		move, refusal := b.Start(start)
		if move.Attempt != "" {
			b.Attempt = origin.Attempt{
				ID: start.Attempt, Hold: b.Hold.ID, Event: b.Hold.Event, Buyer: b.Hold.Buyer, Method: start.Method,
				Amount: b.Hold.Amount, Currency: b.Hold.Currency,
			}
			a := b.Attempt
			if _, err := tx.Exec(ctx, open, a.ID, a.Hold, a.Event, a.Buyer, a.Method, a.Amount, a.Currency, b.Now); err != nil {
				return err
			}
		}
		if b, err = writeMove(ctx, tx, b, move); err != nil {
			return err
		}
		reply = origin.PaymentReply{Hold: b.Hold, Attempt: b.Attempt, Order: b.Order, Refusal: refusal}
		return nil
	})
	if err != nil || reply.Refusal == origin.NoSuchHold {
		return origin.PaymentReply{Refusal: reply.Refusal}, err
	}
	return reply, nil
}

// KeepIntent implements [origin.Ledger].
func (s *Store) KeepIntent(ctx context.Context, attempt, intent string) error {
	const keep = `update attempts set intent = $2, touched_at = clock_timestamp()
		where id = $1 and state = 'open' and (intent is null or intent = $2)`
	tag, err := s.pool.Exec(ctx, keep, attempt, intent)
	if err == nil && tag.RowsAffected() == 0 {
		err = origin.ErrFenced
	}
	return wrap("keep intent", err)
}

// Settle implements [origin.Ledger].
func (s *Store) Settle(ctx context.Context, settle origin.Settlement) (origin.Settled, error) {
	var settled origin.Settled
	err := s.inTx(ctx, "settle attempt", func(tx pgx.Tx) (err error) {
		settled, err = settleIn(ctx, tx, settle)
		return err
	})
	if err != nil {
		return origin.Settled{}, err
	}
	return settled, nil
}

// settleIn settles within a transaction. The attempt's hold never changes, so it is read before the locks.
func settleIn(ctx context.Context, tx pgx.Tx, settle origin.Settlement) (origin.Settled, error) {
	var hold string
	ok, err := found(tx.QueryRow(ctx, `select hold from attempts where id = $1`, settle.Attempt).Scan(&hold))
	if err != nil || !ok {
		return origin.Settled{}, err
	}
	b, err := readBooks(ctx, tx, hold, settle.Attempt, true)
	if err != nil {
		return origin.Settled{}, err
	}
	move := b.Settle(settle)
	b, err = writeMove(ctx, tx, b, move)
	return b.Settled(move), err
}

// Open implements [origin.Ledger].
func (s *Store) Open(ctx context.Context, idle time.Duration, limit int) ([]origin.Attempt, error) {
	const take = `
		with due as (
			select id, touched_at from attempts
			where state in ('open', 'refund_due') and touched_at <= (select clock_timestamp()) - $1::interval
			order by touched_at limit $2 for no key update skip locked
		), touched as (
			update attempts a set touched_at = clock_timestamp() from due where a.id = due.id
			returning a.*, due.touched_at as was
		)
		select ` + attemptColumns + ` from touched a order by a.was`
	rows, err := s.pool.Query(ctx, take, idle, limit)
	if err != nil {
		return nil, wrap("take open attempts", err)
	}
	attempts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (origin.Attempt, error) { return scanAttempt(row) })
	return attempts, wrap("take open attempts", err)
}

// Attempt implements [origin.Ledger].
func (s *Store) Attempt(ctx context.Context, idOrIntent string) (origin.Attempt, bool, error) {
	row := s.pool.QueryRow(ctx, `select `+attemptColumns+` from attempts a where a.id = $1 or a.intent = $1`, idOrIntent)
	attempt, err := scanAttempt(row)
	ok, err := found(err)
	return attempt, ok, wrap("read attempt", err)
}

// RefundDue implements [origin.Ledger].
func (s *Store) RefundDue(ctx context.Context, attempt string) error {
	const note = `update attempts set state = 'refund_due', touched_at = clock_timestamp() where id = $1 and state = 'paid'`
	_, err := s.pool.Exec(ctx, note, attempt)
	return wrap("note that a refund is due", err)
}

// Refunded implements [origin.Ledger].
func (s *Store) Refunded(ctx context.Context, attempt string, amount int64) error {
	const note = `update attempts set state = 'refunded', refunded = $2, touched_at = clock_timestamp()
		where id = $1 and state in ('paid', 'refund_due')`
	return s.inTx(ctx, "note refund", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, note, attempt, amount)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `update orders set refunded = $2 where attempt = $1`, attempt, amount)
		return err
	})
}

// Order implements [origin.Ledger].
func (s *Store) Order(ctx context.Context, id string) (origin.Order, bool, error) {
	order, err := scanOrder(s.pool.QueryRow(ctx, `select `+orderColumns+` from orders o where o.id = $1`, id))
	ok, err := found(err)
	return order, ok, wrap("read order", err)
}
