package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"foyer/origin"
)

// StartPayment implements [origin.Ledger].
func (s *Store) StartPayment(ctx context.Context, start origin.PaymentStart) (origin.PaymentReply, error) {
	const open = `insert into attempts (id, hold, event, buyer, method, amount, currency, state, created_at, touched_at)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'open', ?8, ?8)`
	var reply origin.PaymentReply
	err := s.write(ctx, "start payment", func(tx *sql.Tx, now time.Time) error {
		b, err := readBooks(ctx, tx, now, start.Hold, start.Attempt)
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
			if _, err := tx.ExecContext(ctx, open, a.ID, a.Hold, a.Event, a.Buyer, a.Method, a.Amount, a.Currency, now.UnixMicro()); err != nil {
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
	const keep = `update attempts set intent = ?2, touched_at = ?3
		where id = ?1 and state = 'open' and (intent is null or intent = ?2)`
	return s.write(ctx, "keep intent", func(tx *sql.Tx, now time.Time) error {
		changed, err := changes(tx.ExecContext(ctx, keep, attempt, intent, now.UnixMicro()))
		if err == nil && changed == 0 {
			return origin.ErrFenced
		}
		return err
	})
}

// Settle implements [origin.Ledger].
func (s *Store) Settle(ctx context.Context, settle origin.Settlement) (origin.Settled, error) {
	var settled origin.Settled
	err := s.write(ctx, "settle attempt", func(tx *sql.Tx, now time.Time) (err error) {
		settled, err = settleIn(ctx, tx, now, settle)
		return err
	})
	if err != nil {
		return origin.Settled{}, err
	}
	return settled, nil
}

// settleIn settles within a transaction.
func settleIn(ctx context.Context, tx *sql.Tx, now time.Time, settle origin.Settlement) (origin.Settled, error) {
	var hold string
	ok, err := found(tx.QueryRowContext(ctx, `select hold from attempts where id = ?1`, settle.Attempt).Scan(&hold))
	if err != nil || !ok {
		return origin.Settled{}, err
	}
	b, err := readBooks(ctx, tx, now, hold, settle.Attempt)
	if err != nil {
		return origin.Settled{}, err
	}
	move := b.Settle(settle)
	b, err = writeMove(ctx, tx, b, move)
	return b.Settled(move), err
}

// Open implements [origin.Ledger].
func (s *Store) Open(ctx context.Context, idle time.Duration, limit int) ([]origin.Attempt, error) {
	const due = `select ` + attemptColumns + ` from attempts a where a.state in ('open', 'refund_due') and a.touched_at <= ?1
		order by a.touched_at limit ?2`
	var attempts []origin.Attempt
	err := s.write(ctx, "take open attempts", func(tx *sql.Tx, now time.Time) error {
		rows, err := tx.QueryContext(ctx, due, now.Add(-idle).UnixMicro(), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			attempt, err := scanAttempt(now, rows)
			if err != nil {
				return err
			}
			attempts = append(attempts, attempt)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, attempt := range attempts {
			if _, err := tx.ExecContext(ctx, `update attempts set touched_at = ?2 where id = ?1`, attempt.ID, now.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return attempts, nil
}

// Attempt implements [origin.Ledger].
func (s *Store) Attempt(ctx context.Context, idOrIntent string) (origin.Attempt, bool, error) {
	const read = `select ` + attemptColumns + ` from attempts a where a.id = ?1 or a.intent = ?1`
	attempt, err := scanAttempt(s.now(), s.reader.QueryRowContext(ctx, read, idOrIntent))
	ok, err := found(err)
	return attempt, ok, wrap("read attempt", err)
}

// RefundDue implements [origin.Ledger].
func (s *Store) RefundDue(ctx context.Context, attempt string) error {
	const note = `update attempts set state = 'refund_due', touched_at = ?2 where id = ?1 and state = 'paid'`
	return s.write(ctx, "note that a refund is due", func(tx *sql.Tx, now time.Time) error {
		_, err := tx.ExecContext(ctx, note, attempt, now.UnixMicro())
		return err
	})
}

// Refunded implements [origin.Ledger].
func (s *Store) Refunded(ctx context.Context, attempt string, amount int64) error {
	const note = `update attempts set state = 'refunded', refunded = ?2, touched_at = ?3
		where id = ?1 and state in ('paid', 'refund_due')`
	return s.write(ctx, "note refund", func(tx *sql.Tx, now time.Time) error {
		changed, err := changes(tx.ExecContext(ctx, note, attempt, amount, now.UnixMicro()))
		if err != nil || changed == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `update orders set refunded = ?2 where attempt = ?1`, attempt, amount)
		return err
	})
}

// Order implements [origin.Ledger].
func (s *Store) Order(ctx context.Context, id string) (origin.Order, bool, error) {
	order, err := scanOrder(s.reader.QueryRowContext(ctx, `select `+orderColumns+` from orders o where o.id = ?1`, id))
	ok, err := found(err)
	return order, ok, wrap("read order", err)
}

// changes is the number of rows that a statement has changed.
func changes(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
