package pgstore

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Wrap is wrap, for tests.
var Wrap = wrap

// Pool is where a store's statements run, for tests.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Choosy counts the events whose groups are decided on member by member, for tests.
func (s *Store) Choosy() (events int) {
	s.choosy.Range(func(any, any) bool { events++; return true })
	return events
}

// PipelinesLast sets for how long groups share a connection, for tests: before any does.
func (s *Store) PipelinesLast(d time.Duration) { s.groups.lasts = d }

// PipelineState is which connection a key's statements share, and how many of them, for tests.
type PipelineState struct {
	line     *pipeline
	underWay int
}

// Pipeline is the state of the pipeline that an event's groups are sent on, for tests.
func (s *Store) Pipeline(event string) PipelineState {
	s.groups.mu.Lock()
	defer s.groups.mu.Unlock()
	line := s.groups.open[event]
	if line == nil {
		return PipelineState{}
	}
	return PipelineState{line, line.underWay}
}
