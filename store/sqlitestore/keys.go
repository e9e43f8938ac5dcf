package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"foyer/origin"
)

// unbound is the fingerprint of a key under which nothing was begun: no request has it.
const unbound = ""

// ClaimKey implements [origin.Ledger].
func (s *Store) ClaimKey(ctx context.Context, key origin.Key, fingerprint string, lasts time.Duration) (origin.KeyState, error) {
	const claim = `
		insert into idempotency_keys (buyer, route, key, fingerprint, fence, claimed_until, created_at)
		values (?1, ?2, ?3, ?4, 1, ?5, ?6) on conflict do nothing`
	var state origin.KeyState
	err := s.write(ctx, "claim key", func(tx *sql.Tx, now time.Time) error {
		until := now.Add(lasts).UnixMicro()
		made, err := changes(tx.ExecContext(ctx, claim, key.Buyer, key.Route, key.Key, fingerprint, until, now.UnixMicro()))
		if err != nil {
			return err
		}
		if made == 1 {
			state = origin.KeyState{Claimed: true, Fence: 1}
			return nil
		}
		state, err = takeOverKey(ctx, tx, key, fingerprint, now, until)
		return err
	})
	return state, err
}

// takeOverKey answers for a key that exists: with its answer, or with a claim of its own where the last one has run out.
func takeOverKey(ctx context.Context, tx *sql.Tx, key origin.Key, fingerprint string, now time.Time, until int64) (origin.KeyState, error) {
	const (
		read = `select fingerprint, fence, status, headers, body from idempotency_keys where buyer = ?1 and route = ?2 and key = ?3`
		take = `update idempotency_keys set fence = fence + 1, fingerprint = ?6, claimed_until = ?4
			where buyer = ?1 and route = ?2 and key = ?3 and claimed_until <= ?5 returning fence`
	)
	var (
		state   origin.KeyState
		was     string
		status  *int
		headers *string
		answer  origin.Answer
	)
	row := tx.QueryRowContext(ctx, read, key.Buyer, key.Route, key.Key)
	if err := row.Scan(&was, &state.Fence, &status, &headers, &answer.Body); err != nil {
		return origin.KeyState{}, err
	}
	if was != unbound && was != fingerprint {
		return origin.KeyState{Mismatch: true}, nil
	}
	if status != nil {
		answer.Status = *status
		return origin.KeyState{Fence: state.Fence, Answer: &answer}, json.Unmarshal([]byte(*headers), &answer.Headers)
	}
	var err error
	state.Claimed, err = found(tx.QueryRowContext(ctx, take, key.Buyer, key.Route, key.Key, until, now.UnixMicro(), fingerprint).Scan(&state.Fence))
	return state, err
}

// KeepAnswer implements [origin.Ledger].
func (s *Store) KeepAnswer(ctx context.Context, key origin.Key, fence int64, answer origin.Answer) error {
	const (
		keep = `update idempotency_keys set status = ?5, headers = ?6, body = ?7
			where buyer = ?1 and route = ?2 and key = ?3 and fence = ?4 and status is null`
		kept = `select 1 from idempotency_keys where buyer = ?1 and route = ?2 and key = ?3 and fence = ?4 and status is not null`
	)
	if answer.Headers == nil {
		answer.Headers = map[string]string{}
	}
	headers, err := json.Marshal(answer.Headers)
	if err != nil {
		return wrap("keep answer", err)
	}
	return s.write(ctx, "keep answer", func(tx *sql.Tx, _ time.Time) error {
		done, err := changes(tx.ExecContext(ctx, keep,
			key.Buyer, key.Route, key.Key, fence, answer.Status, string(headers), append([]byte{}, answer.Body...)))
		if err != nil || done == 1 {
			return err
		}
		var one int
		ok, err := found(tx.QueryRowContext(ctx, kept, key.Buyer, key.Route, key.Key, fence).Scan(&one))
		if err == nil && !ok {
			return origin.ErrFenced
		}
		return err
	})
}

// DropKey implements [origin.Ledger]. The row stays, so that its fence goes on counting and its fingerprint holds.
func (s *Store) DropKey(ctx context.Context, key origin.Key, fence int64) error {
	const drop = `update idempotency_keys set claimed_until = ?5
		where buyer = ?1 and route = ?2 and key = ?3 and fence = ?4 and status is null`
	return s.write(ctx, "drop key", func(tx *sql.Tx, now time.Time) error {
		_, err := tx.ExecContext(ctx, drop, key.Buyer, key.Route, key.Key, fence, now.UnixMicro())
		return err
	})
}

// ForgetKey implements [origin.Ledger]. The row stays, so that its fence goes on counting.
func (s *Store) ForgetKey(ctx context.Context, key origin.Key, fence int64) error {
	const forget = `update idempotency_keys set claimed_until = ?5, fingerprint = ?6
		where buyer = ?1 and route = ?2 and key = ?3 and fence = ?4 and status is null`
	return s.write(ctx, "forget key", func(tx *sql.Tx, now time.Time) error {
		_, err := tx.ExecContext(ctx, forget, key.Buyer, key.Route, key.Key, fence, now.UnixMicro(), unbound)
		return err
	})
}

// SweepKeys implements [origin.Ledger].
func (s *Store) SweepKeys(ctx context.Context, age time.Duration, limit int) (int, error) {
	const forget = `delete from idempotency_keys where rowid in (
		select rowid from idempotency_keys where created_at < ?1 and claimed_until < ?1 order by created_at limit ?2)`
	var forgotten int64
	err := s.write(ctx, "sweep keys", func(tx *sql.Tx, now time.Time) (err error) {
		forgotten, err = changes(tx.ExecContext(ctx, forget, now.Add(-age).UnixMicro(), limit))
		return err
	})
	return int(forgotten), err
}
