package pgstore

import "github.com/jackc/pgx/v5/pgxpool"

// Wrap is wrap, for tests.
var Wrap = wrap

// Pool is where a store's statements run, for tests.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
