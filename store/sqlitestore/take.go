package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"foyer/origin"
)

// HoldPessimistic makes a hold the way of the textbook: take the lock, read, decide, write, commit. SQLite's only lock
// is the database's.
func (s *Store) HoldPessimistic(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	replies, err := s.HoldGroup(ctx, request.Event, []origin.HoldRequest{request})
	if err != nil {
		return origin.HoldReply{}, err
	}
	return replies[0], nil
}

// HoldConditional makes a hold by one update of the event's row that happens only if enough remains, with the buyer's
// units and the row in the same transaction.
func (s *Store) HoldConditional(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	const take = `update events set held = held + ?2 where id = ?1 and capacity - sold - held >= ?2 returning ` + stockColumns
	var reply origin.HoldReply
	err := s.write(ctx, "make hold", func(tx *sql.Tx, now time.Time) error {
		g, err := readGroup(ctx, tx, now, request.Event, []origin.HoldRequest{request})
		if err != nil {
			return err
		}
		out := g.Allocate([]origin.HoldRequest{request})
		reply = out.Replies[0]
		if len(out.Made) == 0 {
			return nil
		}
		if _, err := scanStock(now, tx.QueryRowContext(ctx, take, request.Event, request.Quantity)); err != nil {
			return err
		}
		return writeHolds(ctx, tx, g, out)
	})
	if err != nil {
		return origin.HoldReply{}, err
	}
	return reply, nil
}

// HoldGroup makes the holds of a group for one event in one transaction. The answers are in the order of the requests; a
// refusal is one member's alone. After an error with ErrRejected nothing was done; after any other error the group may be
// given again as it is, because what the lost transaction did is then known by the holds' ids.
func (s *Store) HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	var replies []origin.HoldReply
	err := s.write(ctx, "make holds", func(tx *sql.Tx, now time.Time) error {
		g, err := readGroup(ctx, tx, now, event, requests)
		if err != nil {
			return err
		}
		out := g.Allocate(requests)
		replies = out.Replies
		if len(out.Made) == 0 {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `update events set held = held + ?2 where id = ?1`, event, out.Held); err != nil {
			return err
		}
		return writeHolds(ctx, tx, g, out)
	})
	if err != nil {
		return nil, err
	}
	return replies, nil
}

// Void writes tombstones, holds in state refused, for those ids that are no holds yet: from then on they can never become
// one. It answers with all of them as they stand.
func (s *Store) Void(ctx context.Context, event string, requests []origin.HoldRequest, reason origin.Refusal) (map[string]origin.Hold, error) {
	const bury = `
		insert into holds (id, event, buyer, quantity, amount, currency, state, reason, created_at, expires_at, ended_at)
		select ?2, id, ?3, ?4, 0, currency, 'refused', ?5, ?6, ?6, ?6 from events where id = ?1
		on conflict (id) do nothing`
	ids := make([]string, len(requests))
	var holds map[string]origin.Hold
	err := s.write(ctx, "void holds", func(tx *sql.Tx, now time.Time) (err error) {
		for i, request := range requests {
			ids[i] = request.ID
			if _, err := tx.ExecContext(ctx, bury, event, request.ID, request.Buyer, request.Quantity, reason, now.UnixMicro()); err != nil {
				return err
			}
		}
		holds, err = readHolds(ctx, tx, ids)
		return err
	})
	return holds, err
}

// readGroup reads what Allocate needs.
func readGroup(ctx context.Context, tx *sql.Tx, now time.Time, event string, requests []origin.HoldRequest) (origin.Group, error) {
	const read = `select buyer, units from buyers where event = ?1 and buyer in (select value from json_each(?2))`
	g := origin.Group{Now: now, Units: make(map[string]int64, len(requests))}
	ids, buyers := make([]string, len(requests)), make([]string, len(requests))
	for i, request := range requests {
		ids[i], buyers[i] = request.ID, request.Buyer
	}
	var err error
	if g.Stock, err = readStock(ctx, tx, now, event); err != nil {
		return g, err
	}
	if g.Known, err = readHolds(ctx, tx, ids); err != nil {
		return g, err
	}
	list, err := json.Marshal(buyers)
	if err != nil {
		return g, err
	}
	rows, err := tx.QueryContext(ctx, read, event, string(list))
	if err != nil {
		return g, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			buyer string
			units int64
		)
		if err := rows.Scan(&buyer, &units); err != nil {
			return g, err
		}
		g.Units[buyer] = units
	}
	return g, rows.Err()
}

// writeHolds writes the new holds of an allocation and the units of their buyers; the event's row is the caller's.
func writeHolds(ctx context.Context, tx *sql.Tx, g origin.Group, out origin.Allocation) error {
	const (
		write = `insert into holds (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
			values (?1, ?2, ?3, ?4, ?5, ?6, 'active', ?7, ?8)`
		count = `insert into buyers as b (event, buyer, units, max_units) values (?1, ?2, ?3, ?4)
			on conflict (event, buyer) do update set units = b.units + excluded.units, max_units = excluded.max_units`
	)
	holds, err := tx.PrepareContext(ctx, write)
	if err != nil {
		return err
	}
	defer holds.Close()
	for _, h := range out.Made {
		if _, err := holds.ExecContext(ctx, h.ID, h.Event, h.Buyer, h.Quantity, h.Amount, h.Currency,
			h.CreatedAt.UnixMicro(), h.ExpiresAt.UnixMicro()); err != nil {
			return err
		}
	}
	buyers, err := tx.PrepareContext(ctx, count)
	if err != nil {
		return err
	}
	defer buyers.Close()
	for buyer, units := range out.Units {
		if _, err := buyers.ExecContext(ctx, g.Stock.ID, buyer, units, g.Stock.MaxPerBuyer); err != nil {
			return err
		}
	}
	return nil
}
