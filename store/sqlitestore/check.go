package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"foyer/origin"
	"foyer/store/invariants"
)

// Check implements [origin.Ledger].
func (s *Store) Check(ctx context.Context, settle time.Duration) ([]origin.Finding, error) {
	var findings []origin.Finding
	late := s.now().Add(-settle)
	err := s.read(ctx, "check the ledger", func(tx *sql.Tx) error {
		for _, each := range invariants.All() {
			some, err := broken(ctx, tx, each, late)
			if err != nil {
				return fmt.Errorf("%s: %w", each.Name, err)
			}
			findings = append(findings, some...)
		}
		return nil
	})
	return findings, err
}

// broken reads what breaks one invariant.
func broken(ctx context.Context, tx *sql.Tx, each invariants.Invariant, late time.Time) ([]origin.Finding, error) {
	var args []any
	if each.Timed {
		args = append(args, late.UnixMicro())
	}
	query := strings.ReplaceAll(each.Query, "$1", "?1")
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("%s limit %d", query, invariants.Limit), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var findings []origin.Finding
	for rows.Next() {
		found := origin.Finding{Invariant: each.Name}
		if err := rows.Scan(&found.Event, &found.Row, &found.Detail); err != nil {
			return nil, err
		}
		findings = append(findings, found)
	}
	return findings, rows.Err()
}
