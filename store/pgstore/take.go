package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"foyer/origin"
)

// HoldPessimistic makes a hold the way of the textbook: lock the event's row, read, decide, write, commit, each in a
// round trip of its own.
func (s *Store) HoldPessimistic(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	var reply origin.HoldReply
	err := s.inTx(ctx, "make hold", func(tx pgx.Tx) error {
		g, err := lockGroup(ctx, tx, request.Event, []origin.HoldRequest{request}, false)
		if err != nil {
			return err
		}
		out := g.Allocate([]origin.HoldRequest{request})
		reply = out.Replies[0]
		if len(out.Made) == 0 {
			return nil
		}
		return writeAllocation(ctx, tx, g, out, false)
	})
	if err != nil {
		return origin.HoldReply{}, err
	}
	return reply, nil
}

// HoldConditional makes a hold in one statement: the event's row is updated only if enough remains, the buyer's limit is
// the constraint buyers_within_limit, a repeated id the constraint holds_pkey; each of the latter undoes the statement.
func (s *Store) HoldConditional(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	const take = `
		with taken as (
			update events set held = held + $4 where id = $2 and capacity - sold - held >= $4
			returning amount, currency, max_per_buyer, clock_timestamp() as now
		), counted as (
			insert into buyers as b (event, buyer, units, max_units) select $2, $3, $4, max_per_buyer from taken
			on conflict (event, buyer) do update set units = b.units + excluded.units, max_units = excluded.max_units
		)
		insert into holds as h (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
		select $1, $2, $3, $4, $4 * amount, currency, 'active', now, now + $5::interval from taken
		returning ` + holdColumns
	hold, err := scanHold(s.pool.QueryRow(ctx, take, request.ID, request.Event, request.Buyer, request.Quantity, request.TTL))
	if err == nil {
		return origin.HoldReply{Hold: hold}, nil
	}
	refusal := origin.SoldOut
	var rejected *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case errors.As(err, &rejected) && rejected.ConstraintName == "buyers_within_limit":
		refusal = origin.LimitExceeded
	case errors.As(err, &rejected) && rejected.ConstraintName == "holds_pkey":
	default:
		return origin.HoldReply{}, wrap("make hold", err)
	}
	return s.whyNot(ctx, request, refusal)
}

// whyNot explains a hold that the conditional update did not make, for the reason that it found. Where that has gone
// meanwhile (units were given back), it was still true at that moment, and is the answer.
func (s *Store) whyNot(ctx context.Context, request origin.HoldRequest, found origin.Refusal) (origin.HoldReply, error) {
	stock, known, err := s.Standing(ctx, request.Event, []string{request.ID})
	if err != nil {
		return origin.HoldReply{}, err
	}
	if hold, ok := known[request.ID]; ok {
		return origin.HoldReply{Hold: hold, Refusal: hold.Reason}, nil
	}
	if stock.ID == "" {
		return origin.HoldReply{Refusal: origin.NoSuchEvent}, nil
	}
	units, err := s.units(ctx, request.Event, request.Buyer)
	if err != nil {
		return origin.HoldReply{}, wrap("read the buyer's units", err)
	}
	if refusal := origin.Refuse(stock, units, request.Quantity); refusal == origin.LimitExceeded {
		return origin.HoldReply{Refusal: refusal}, nil
	}
	return origin.HoldReply{Refusal: found}, nil
}

// units reads how many units a buyer has of an event.
func (s *Store) units(ctx context.Context, event, buyer string) (units int64, err error) {
	row := s.pool.QueryRow(ctx, `select units from buyers where event = $1 and buyer = $2`, event, buyer)
	_, err = found(row.Scan(&units))
	return units, err
}

// Void writes tombstones, holds in state refused, for those ids that are no holds yet: from then on they can never become
// one. It answers with all of them as they stand.
func (s *Store) Void(ctx context.Context, event string, requests []origin.HoldRequest, reason origin.Refusal) (map[string]origin.Hold, error) {
	const bury = `
		insert into holds (id, event, buyer, quantity, amount, currency, state, reason, created_at, expires_at, ended_at)
		select v.id, e.id, v.buyer, v.quantity, 0, e.currency, 'refused', $5, clock_timestamp(), clock_timestamp(), clock_timestamp()
		from unnest($2::text[], $3::text[], $4::bigint[]) as v (id, buyer, quantity), events e where e.id = $1
		on conflict (id) do nothing`
	ids, buyers, quantities := make([]string, len(requests)), make([]string, len(requests)), make([]int64, len(requests))
	for i, request := range requests {
		ids[i], buyers[i], quantities[i] = request.ID, request.Buyer, request.Quantity
	}
	var holds map[string]origin.Hold
	err := s.inTx(ctx, "void holds", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select from events where id = $1 for no key update`, event); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, bury, event, ids, buyers, quantities, string(reason)); err != nil {
			return err
		}
		var err error
		holds, err = readHolds(ctx, tx, ids)
		return err
	})
	return holds, err
}
