package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"foyer/origin"
)

// MoveGroup implements strategy.Ledger: one transaction, in which each wish is read, decided on and written in turn.
func (s *Store) MoveGroup(ctx context.Context, event string, wishes []origin.Wish) ([]origin.Granted, error) {
	granted := make([]origin.Granted, len(wishes))
	err := s.write(ctx, "move holds of "+event, func(tx *sql.Tx, now time.Time) (err error) {
		for i, wish := range wishes {
			if wish.Settle.Attempt != "" {
				granted[i].Settled, err = settleIn(ctx, tx, now, wish.Settle)
			} else {
				granted[i], err = releaseIn(ctx, tx, now, wish)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// releaseIn releases within a transaction.
func releaseIn(ctx context.Context, tx *sql.Tx, now time.Time, wish origin.Wish) (origin.Granted, error) {
	b, err := readBooks(ctx, tx, now, wish.Hold, "")
	if err != nil {
		return origin.Granted{}, err
	}
	move, refusal := b.Release(wish.Buyer)
	if refusal == origin.NoSuchHold {
		return origin.Granted{Refusal: refusal}, nil
	}
	b, err = writeMove(ctx, tx, b, move)
	return origin.Granted{Settled: b.Settled(move), Refusal: refusal}, err
}
