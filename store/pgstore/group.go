package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"foyer/origin"
)

// HoldGroup makes the holds of a group for one event in one transaction. The answers are in the order of the requests; a
// refusal is one member's alone. After an error with ErrRejected nothing was done; after any other error the group may be
// given again as it is: what the lost try did is then known by the holds' ids. That one may also be done later, whole or not
// at all, and not once there is a hold or a tombstone of any of the ids.
//
// It asks for the whole group in one statement, which is half the work and holds the row lock without a round trip. Where
// that cannot be, since a member is refused or was answered before, it decides on each, and goes on so for this event until
// a group is made whole again. A second group of the event at once is sent behind the first, see pipelines.
func (s *Store) HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	if _, choosy := s.choosy.Load(event); !choosy {
		replies, whole, err := s.holdAll(ctx, event, requests)
		if whole || err != nil {
			return replies, wrap("make holds", err)
		}
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, wrap("make holds", err)
	}
	defer conn.Release()
	stock, out, err := holdEach(ctx, conn, event, requests)
	switch {
	case err != nil:
		return nil, wrap("make holds", err)
	case len(out.Made) == len(requests):
		s.choosy.Delete(event)
	case stock.ID != "": // whatever else is asked for is not remembered
		s.choosy.Store(event, nil)
	}
	return out.Replies, nil
}

// holdAll makes all holds of a group or none, in one statement like HoldConditional's. It is not whole, and nothing was done,
// where there is no such event or a constraint stands against it: the capacity, a limit, an id that is a hold already, or
// what a member asks for.
func (s *Store) holdAll(ctx context.Context, event string, requests []origin.HoldRequest) (replies []origin.HoldReply, whole bool, err error) {
	const take = `
		with stock as (
			update events set held = held + $2 where id = $1 returning ` + stockColumns + ` as now -- the clock is the last of them
		), made as (
			insert into holds (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
			select n.id, s.id, n.buyer, n.quantity, n.quantity * s.amount, s.currency, 'active', s.now, s.now + n.ttl * interval '1 microsecond'
			from stock s, unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[]) as n (id, buyer, quantity, ttl)
		), counted as (
			insert into buyers as b (event, buyer, units, max_units)
			select s.id, n.buyer, n.units, s.max_per_buyer from stock s, unnest($7::text[], $8::bigint[]) as n (buyer, units)
			on conflict (event, buyer) do update set units = b.units + excluded.units, max_units = excluded.max_units
		)
		select * from stock`
	n := len(requests)
	ids, by, quantities, ttls := make([]string, n), make([]string, n), make([]int64, n), make([]int64, n)
	added := make(map[string]int64, n)
	var total int64
	for i, request := range requests {
		ids[i], by[i], quantities[i], ttls[i] = request.ID, request.Buyer, request.Quantity, request.TTL.Microseconds()
		added[request.Buyer] += request.Quantity
		total += request.Quantity
	}
	buyers, units := make([]string, 0, n), make([]int64, 0, n)
	for buyer, quantity := range added {
		buyers, units = append(buyers, buyer), append(units, quantity)
	}
	stock, err := scanStock(s.groups.queryRow(ctx, event, take, event, total, ids, by, quantities, ttls, buyers, units))
	if errors.Is(err, pgx.ErrNoRows) || rejected(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	replies = make([]origin.HoldReply, n)
	for i, request := range requests {
		replies[i].Hold = origin.NewHold(stock.Event, request, stock.AsOf)
	}
	return replies, true, nil
}

// holdEach decides on each member of a group in one transaction of two round trips: one that begins, takes the row lock and
// reads, one that writes and commits. The stock is as it was read.
func holdEach(ctx context.Context, conn *pgxpool.Conn, event string, requests []origin.HoldRequest) (origin.Stock, origin.Allocation, error) {
	g, err := lockGroup(ctx, conn, event, requests, true)
	if err == nil {
		out := g.Allocate(requests)
		if err = writeAllocation(ctx, conn, g, out, true); err == nil {
			return g.Stock, out, nil
		}
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = conn.Exec(undo, `rollback`) // else the pool closes the connection, which undoes it too
	return origin.Stock{}, origin.Allocation{}, err
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
