package sqlitestore

import (
	"context"
	"time"
)

// Exec runs a statement beside all rules.
func (s *Store) Exec(ctx context.Context, statement string) error {
	_, err := s.writer.ExecContext(ctx, statement)
	return wrap("exec", err)
}

// Now is the ledger's clock.
func (s *Store) Now() time.Time { return s.now() }
