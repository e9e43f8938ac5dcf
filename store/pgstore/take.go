package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"foyer/origin"
)

// Writers implements strategy.Ledger: while one transaction commits, the next sends its first batch and waits for the
// lock, so a second one hides the round trips; a third would only make the groups smaller.
func (s *Store) Writers() int { return 2 }

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

// HoldGroup makes the holds of a group for one event in one transaction of two round trips: one that begins, takes the
// row lock and reads, one that writes and commits. The answers are in the order of the requests; a refusal is one member's
// alone. After an error with ErrRejected nothing was done; after any other error the group may be given again as it is,
// because the row lock waits for the lost transaction and what it did is then known by the holds' ids.
func (s *Store) HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, wrap("make holds", err)
	}
	defer conn.Release()
	g, err := lockGroup(ctx, conn, event, requests, true)
	if err == nil {
		out := g.Allocate(requests)
		if err = writeAllocation(ctx, conn, g, out, true); err == nil {
			return out.Replies, nil
		}
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = conn.Exec(undo, `rollback`) // else the pool closes the connection, which undoes it too
	return nil, wrap("make holds", err)
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

// batcher is a connection or a transaction.
type batcher interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// unitsOf looks each buyer up. It is a lateral join with a limit, which is a loop of look-ups in the primary key whatever the
// planner believes: before the table's first analysis it takes an event for a few buyers, reads them all, and compares each
// with every one that is asked for.
const unitsOf = `
	select n.buyer, b.units from unnest($2::text[]) as n (buyer),
	lateral (select units from buyers where event = $1 and buyer = n.buyer limit 1) b`

// lockGroup locks the event's row and reads what Allocate needs. With begin set it begins the transaction itself.
func lockGroup(ctx context.Context, db batcher, event string, requests []origin.HoldRequest, begin bool) (origin.Group, error) {
	g := origin.Group{Units: make(map[string]int64, len(requests)), Known: map[string]origin.Hold{}}
	ids, buyers := make([]string, len(requests)), make([]string, len(requests))
	for i, request := range requests {
		ids[i], buyers[i] = request.ID, request.Buyer
	}
	batch := &pgx.Batch{}
	if begin {
		batch.Queue(`begin`)
	}
	batch.Queue(`select `+stockColumns+` from events where id = $1 for no key update`, event).
		QueryRow(optional(func(row pgx.Row) (err error) { g.Stock, err = scanStock(row); return err }))
	batch.Queue(unitsOf, event, buyers).
		Query(func(rows pgx.Rows) error {
			var (
				buyer string
				units int64
			)
			_, err := pgx.ForEachRow(rows, []any{&buyer, &units}, func() error { g.Units[buyer] = units; return nil })
			return err
		})
	batch.Queue(knownHolds, ids).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var order string
				hold, err := scanHold(rows, &order)
				if err != nil {
					return err
				}
				hold.Order = order
				g.Known[hold.ID] = hold
			}
			return rows.Err()
		})
	batch.Queue(`select clock_timestamp()`).QueryRow(func(row pgx.Row) error { return row.Scan(&g.Now) })
	err := db.SendBatch(ctx, batch).Close()
	g.Now = g.Now.UTC()
	return g, err
}

// writeAllocation writes the new holds of an allocation. With commit set it ends the transaction itself.
func writeAllocation(ctx context.Context, db batcher, g origin.Group, out origin.Allocation, commit bool) error {
	batch := &pgx.Batch{}
	if len(out.Made) > 0 {
		queueHolds(batch, g, out.Made)
		queueUnits(batch, g, out.Units)
		batch.Queue(`update events set held = held + $2 where id = $1`, g.Stock.ID, out.Held)
	}
	if commit {
		batch.Queue(`commit`).Exec(func(tag pgconn.CommandTag) error {
			if tag.String() != "COMMIT" {
				return fmt.Errorf("commit answered %s", tag)
			}
			return nil
		})
	}
	return db.SendBatch(ctx, batch).Close()
}

func queueHolds(batch *pgx.Batch, g origin.Group, made []origin.Hold) {
	const write = `
		insert into holds (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
		select n.id, $1, n.buyer, n.quantity, n.amount, $2, 'active', $3, n.expires_at
		from unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::timestamptz[]) as n (id, buyer, quantity, amount, expires_at)`
	ids, buyers := make([]string, len(made)), make([]string, len(made))
	quantities, amounts, ends := make([]int64, len(made)), make([]int64, len(made)), make([]time.Time, len(made))
	for i, hold := range made {
		ids[i], buyers[i], quantities[i], amounts[i], ends[i] = hold.ID, hold.Buyer, hold.Quantity, hold.Amount, hold.ExpiresAt
	}
	batch.Queue(write, g.Stock.ID, g.Stock.Currency, g.Now, ids, buyers, quantities, amounts, ends)
}

// queueUnits writes what buyers have more. The event's row lock covers them, so whoever had no row when the group was read
// has none now and is plainly inserted, which is cheaper than an insert that expects a conflict.
func queueUnits(batch *pgx.Batch, g origin.Group, added map[string]int64) {
	const (
		insert = `insert into buyers (event, buyer, units, max_units)
			select $1, n.buyer, n.units, $2 from unnest($3::text[], $4::bigint[]) as n (buyer, units)`
		raise = `insert into buyers as b (event, buyer, units, max_units)
			select $1, n.buyer, n.units, $2 from unnest($3::text[], $4::bigint[]) as n (buyer, units)
			on conflict (event, buyer) do update set units = b.units + excluded.units, max_units = excluded.max_units`
	)
	var fresh, known struct {
		buyers []string
		units  []int64
	}
	for buyer, n := range added {
		into := &fresh
		if _, ok := g.Units[buyer]; ok {
			into = &known
		}
		into.buyers, into.units = append(into.buyers, buyer), append(into.units, n)
	}
	if len(fresh.buyers) > 0 {
		batch.Queue(insert, g.Stock.ID, g.Stock.MaxPerBuyer, fresh.buyers, fresh.units)
	}
	if len(known.buyers) > 0 {
		batch.Queue(raise, g.Stock.ID, g.Stock.MaxPerBuyer, known.buyers, known.units)
	}
}
