package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
	"foyer/store/invariants"
)

// Check implements [origin.Ledger]. It reads whole tables, so it is planned as such, and without the limits of a sale.
func (s *Store) Check(ctx context.Context, settle time.Duration) ([]origin.Finding, error) {
	var findings []origin.Finding
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local enable_seqscan = on; set local statement_timeout = 0; set local work_mem = '64MB'`); err != nil {
			return err
		}
		for _, each := range invariants.All() {
			some, err := broken(ctx, tx, each, settle)
			if err != nil {
				return fmt.Errorf("%s: %w", each.Name, err)
			}
			findings = append(findings, some...)
		}
		return nil
	})
	return findings, wrap("check the ledger", err)
}

// broken reads what breaks one invariant.
func broken(ctx context.Context, tx pgx.Tx, each invariants.Invariant, settle time.Duration) ([]origin.Finding, error) {
	var args []any
	if each.Timed {
		var late time.Time
		if err := tx.QueryRow(ctx, `select clock_timestamp() - $1::interval`, settle).Scan(&late); err != nil {
			return nil, err
		}
		args = append(args, late)
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("%s limit %d", each.Query, invariants.Limit), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (origin.Finding, error) {
		found := origin.Finding{Invariant: each.Name}
		err := row.Scan(&found.Event, &found.Row, &found.Detail)
		return found, err
	})
}
