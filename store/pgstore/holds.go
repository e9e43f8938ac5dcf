package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// Hold implements [origin.Ledger].
func (s *Store) Hold(ctx context.Context, id string) (origin.Hold, bool, error) {
	holds, err := readHolds(ctx, s.pool, []string{id})
	hold, ok := holds[id]
	return hold, ok, wrap("read hold", err)
}

// Release implements [origin.Ledger].
func (s *Store) Release(ctx context.Context, id, buyer string) (origin.Hold, bool, origin.Refusal, error) {
	var (
		b       origin.Books
		move    origin.Move
		refusal origin.Refusal
	)
	err := s.inTx(ctx, "release hold", func(tx pgx.Tx) (err error) {
		if b, err = readBooks(ctx, tx, id, "", true); err != nil {
			return err
		}
		move, refusal = b.Release(buyer)
		b, err = writeMove(ctx, tx, b, move)
		return err
	})
	if err != nil || refusal == origin.NoSuchHold {
		return origin.Hold{}, false, refusal, err
	}
	return b.Hold, move.Frees(), refusal, nil
}

// Expire implements [origin.Ledger].
func (s *Store) Expire(ctx context.Context, limit int) ([]origin.Ended, error) {
	const lapsed = `select event, array_agg(id) from (
			select event, id from holds where state = 'active' and expires_at <= (select clock_timestamp()) order by expires_at limit $1
		) oldest group by event`
	rows, err := s.pool.Query(ctx, lapsed, limit)
	if err != nil {
		return nil, wrap("find lapsed holds", err)
	}
	events := map[string][]string{}
	var (
		event string
		ids   []string
	)
	if _, err := pgx.ForEachRow(rows, []any{&event, &ids}, func() error { events[event], ids = ids, nil; return nil }); err != nil {
		return nil, wrap("find lapsed holds", err)
	}
	var ended []origin.Ended
	for event, ids := range events {
		some, err := s.expire(ctx, event, ids)
		if err != nil {
			return ended, err
		}
		ended = append(ended, some...)
	}
	return ended, nil
}

// expire ends those of an event's holds that are still active and lapsed once the event's row is locked: another reaper,
// a payment or a release may have come first. Adding nothing to the state keeps the planner from reading all active holds
// (see unitsOf).
func (s *Store) expire(ctx context.Context, event string, ids []string) ([]origin.Ended, error) {
	const end = `
		with ended as (
			update holds set state = 'expired', ended_at = clock_timestamp()
			where id = any($2) and state || '' = 'active' and expires_at <= clock_timestamp()
			returning id, event, buyer, quantity
		), freed as (
			update buyers b set units = b.units - e.units
			from (select buyer, sum(quantity)::bigint as units from ended group by buyer) e
			where b.event = $1 and b.buyer = e.buyer
		), counted as (
			update events set held = held - (select sum(quantity)::bigint from ended)
			where id = $1 and exists (select from ended)
		)
		select id, event, quantity from ended`
	var ended []origin.Ended
	err := s.inTx(ctx, "expire holds of "+event, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select from events where id = $1 for no key update`, event); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, end, event, ids)
		if err != nil {
			return err
		}
		ended, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e origin.Ended, err error) {
			return e, row.Scan(&e.Hold, &e.Event, &e.Quantity)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// Standing reads an event and those of the holds that exist, in one snapshot. The stock has no ID where there is no such
// event.
func (s *Store) Standing(ctx context.Context, event string, ids []string) (origin.Stock, map[string]origin.Hold, error) {
	var (
		stock origin.Stock
		holds map[string]origin.Hold
	)
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) (err error) {
		row := tx.QueryRow(ctx, `select `+stockColumns+` from events where id = $1`, event)
		if err = optional(func(row pgx.Row) (err error) { stock, err = scanStock(row); return err })(row); err != nil {
			return err
		}
		holds, err = readHolds(ctx, tx, ids)
		return err
	})
	return stock, holds, wrap("read the standing of "+event, err)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// knownHolds reads those of the ids that are holds, with their orders.
const knownHolds = `
	select ` + holdColumns + `, coalesce((select o.id from orders o where o.hold = h.id), '') from holds h where h.id = any($1)`

func readHolds(ctx context.Context, q querier, ids []string) (map[string]origin.Hold, error) {
	rows, err := q.Query(ctx, knownHolds, ids)
	if err != nil {
		return nil, err
	}
	holds := make(map[string]origin.Hold, len(ids))
	for rows.Next() {
		var order string
		hold, err := scanHold(rows, &order)
		if err != nil {
			rows.Close()
			return nil, err
		}
		hold.Order = order
		holds[hold.ID] = hold
	}
	return holds, rows.Err()
}
