package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"foyer/origin"
)

// Hold implements [origin.Ledger].
func (s *Store) Hold(ctx context.Context, id string) (origin.Hold, bool, error) {
	hold, err := scanHold(s.reader.QueryRowContext(ctx, `select `+holdColumns+` from holds h where h.id = ?1`, id))
	ok, err := found(err)
	return hold, ok, wrap("read hold", err)
}

// Release implements [origin.Ledger].
func (s *Store) Release(ctx context.Context, id, buyer string) (origin.Hold, bool, origin.Refusal, error) {
	var (
		b       origin.Books
		move    origin.Move
		refusal origin.Refusal
	)
	err := s.write(ctx, "release hold", func(tx *sql.Tx, now time.Time) (err error) {
		if b, err = readBooks(ctx, tx, now, id, ""); err != nil {
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

// Expire implements [origin.Ledger]. All events share the one transaction here.
func (s *Store) Expire(ctx context.Context, limit int) ([]origin.Ended, error) {
	const end = `
		update holds set state = 'expired', ended_at = ?1
		where id in (select id from holds where state = 'active' and expires_at <= ?1 order by expires_at limit ?2)
		returning id, event, quantity, buyer`
	var ended []origin.Ended
	err := s.write(ctx, "expire holds", func(tx *sql.Tx, now time.Time) error {
		rows, err := tx.QueryContext(ctx, end, now.UnixMicro(), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		var buyers []string
		for rows.Next() {
			var (
				e     origin.Ended
				buyer string
			)
			if err := rows.Scan(&e.Hold, &e.Event, &e.Quantity, &buyer); err != nil {
				return err
			}
			ended, buyers = append(ended, e), append(buyers, buyer)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return freeUnits(ctx, tx, ended, buyers)
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

func freeUnits(ctx context.Context, tx *sql.Tx, ended []origin.Ended, buyers []string) error {
	for i, e := range ended {
		const units = `update buyers set units = units - ?3 where event = ?1 and buyer = ?2`
		if _, err := tx.ExecContext(ctx, units, e.Event, buyers[i], e.Quantity); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `update events set held = held - ?2 where id = ?1`, e.Event, e.Quantity); err != nil {
			return err
		}
	}
	return nil
}

// Standing reads an event and those of the holds that exist, in one snapshot. The stock has no ID where there is no such
// event.
func (s *Store) Standing(ctx context.Context, event string, ids []string) (origin.Stock, map[string]origin.Hold, error) {
	var (
		stock origin.Stock
		holds map[string]origin.Hold
	)
	err := s.read(ctx, "read the standing of "+event, func(tx *sql.Tx) (err error) {
		if stock, err = readStock(ctx, tx, s.now(), event); err != nil {
			return err
		}
		holds, err = readHolds(ctx, tx, ids)
		return err
	})
	return stock, holds, err
}

func readHolds(ctx context.Context, q querier, ids []string) (map[string]origin.Hold, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `select `+holdColumns+` from holds h where h.id in (select value from json_each(?1))`, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	holds := make(map[string]origin.Hold, len(ids))
	for rows.Next() {
		hold, err := scanHold(rows)
		if err != nil {
			return nil, err
		}
		holds[hold.ID] = hold
	}
	return holds, rows.Err()
}
