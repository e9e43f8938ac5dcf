package pgstore

import "github.com/jackc/pgx/v5/pgxpool"

// Wrap is wrap, for tests.
var Wrap = wrap

// Pool is where a store's statements run, for tests.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Choosy counts the events whose groups are decided on member by member, for tests.
func (s *Store) Choosy() (events int) {
	s.choosy.Range(func(any, any) bool { events++; return true })
	return events
}
