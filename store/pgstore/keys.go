package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// unbound is the fingerprint of a key under which nothing was begun: no request has it.
const unbound = ""

// ClaimKey implements [origin.Ledger].
func (s *Store) ClaimKey(ctx context.Context, key origin.Key, fingerprint string, lasts time.Duration) (origin.KeyState, error) {
	const claim = `
		insert into idempotency_keys (buyer, route, key, fingerprint, fence, claimed_until, created_at)
		values ($1, $2, $3, $4, 1, clock_timestamp() + $5::interval, clock_timestamp())
		on conflict do nothing`
	var state origin.KeyState
	err := s.inTx(ctx, "claim key", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, claim, key.Buyer, key.Route, key.Key, fingerprint, lasts)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			state = origin.KeyState{Claimed: true, Fence: 1}
			return nil
		}
		state, err = takeOverKey(ctx, tx, key, fingerprint, lasts)
		return err
	})
	return state, err
}

// takeOverKey answers for a key that exists: with its answer, or with a claim of its own where the last one has run out.
func takeOverKey(ctx context.Context, tx pgx.Tx, key origin.Key, fingerprint string, lasts time.Duration) (origin.KeyState, error) {
	const (
		lock = `select fingerprint, fence, status, headers, body from idempotency_keys
			where buyer = $1 and route = $2 and key = $3 for no key update`
		take = `update idempotency_keys set fence = fence + 1, fingerprint = $5, claimed_until = clock_timestamp() + $4::interval
			where buyer = $1 and route = $2 and key = $3 and claimed_until <= clock_timestamp() returning fence`
	)
	var (
		state  origin.KeyState
		was    string
		status *int
		answer origin.Answer
	)
	row := tx.QueryRow(ctx, lock, key.Buyer, key.Route, key.Key)
	if err := row.Scan(&was, &state.Fence, &status, &answer.Headers, &answer.Body); err != nil {
		return origin.KeyState{}, err
	}
	if was != unbound && was != fingerprint {
		return origin.KeyState{Mismatch: true}, nil
	}
	if status != nil {
		answer.Status = *status
		return origin.KeyState{Fence: state.Fence, Answer: &answer}, nil
	}
	var err error
	state.Claimed, err = found(tx.QueryRow(ctx, take, key.Buyer, key.Route, key.Key, lasts, fingerprint).Scan(&state.Fence))
	return state, err
}

// KeepAnswer implements [origin.Ledger].
func (s *Store) KeepAnswer(ctx context.Context, key origin.Key, fence int64, answer origin.Answer) error {
	const keep = `update idempotency_keys set status = $5, headers = $6, body = $7
		where buyer = $1 and route = $2 and key = $3 and fence = $4 and status is null`
	headers, body := answer.Headers, answer.Body
	if headers == nil {
		headers = map[string]string{}
	}
	if body == nil {
		body = []byte{}
	}
	tag, err := s.pool.Exec(ctx, keep, key.Buyer, key.Route, key.Key, fence, answer.Status, headers, body)
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("keep answer", err)
	}
	const kept = `select from idempotency_keys where buyer = $1 and route = $2 and key = $3 and fence = $4 and status is not null`
	ok, err := found(s.pool.QueryRow(ctx, kept, key.Buyer, key.Route, key.Key, fence).Scan())
	if err == nil && !ok {
		err = origin.ErrFenced
	}
	return wrap("keep answer", err)
}

// DropKey implements [origin.Ledger]. The row stays, so that its fence goes on counting and its fingerprint holds.
func (s *Store) DropKey(ctx context.Context, key origin.Key, fence int64) error {
	const drop = `update idempotency_keys set claimed_until = clock_timestamp()
		where buyer = $1 and route = $2 and key = $3 and fence = $4 and status is null`
	_, err := s.pool.Exec(ctx, drop, key.Buyer, key.Route, key.Key, fence)
	return wrap("drop key", err)
}

// ForgetKey implements [origin.Ledger]. The row stays, so that its fence goes on counting.
func (s *Store) ForgetKey(ctx context.Context, key origin.Key, fence int64) error {
	const forget = `update idempotency_keys set claimed_until = clock_timestamp(), fingerprint = $5
		where buyer = $1 and route = $2 and key = $3 and fence = $4 and status is null`
	_, err := s.pool.Exec(ctx, forget, key.Buyer, key.Route, key.Key, fence, unbound)
	return wrap("forget key", err)
}

// SweepKeys implements [origin.Ledger]. A key that is claimed while it is looked at is looked at again, and stays. Rows are
// found again by where they lie, since the planner would read the whole table to join it with itself.
func (s *Store) SweepKeys(ctx context.Context, age time.Duration, limit int) (int, error) {
	const forget = `
		delete from idempotency_keys where ctid = any(array(
			select ctid from idempotency_keys
			where created_at < (select clock_timestamp()) - $1::interval and claimed_until < clock_timestamp() - $1::interval
			order by created_at limit $2
		)) and claimed_until < clock_timestamp() - $1::interval`
	tag, err := s.pool.Exec(ctx, forget, age, limit)
	return int(tag.RowsAffected()), wrap("sweep keys", err)
}
