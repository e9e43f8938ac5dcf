package origin

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// slotsEvery is how soon it is noticed that another process has settled a payment.
const slotsEvery = 2 * time.Second

// slots remembers the slots of buyers whose payment was unsettled when they were answered. One that turns out paid
// gives the slot up, as the answer of a paid order does. A process that dies forgets them: then the lease ends by itself.
type slots struct {
	ledger Ledger
	logger *zap.Logger

	mu       sync.Mutex
	releases map[string]func(context.Context) error // by attempt
}

// keep remembers the slot of an attempt's buyer; release is nil where he has none.
func (s *slots) keep(attempt string, release func(context.Context) error) {
	if release == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.releases == nil {
		s.releases = make(map[string]func(context.Context) error)
	}
	s.releases[attempt] = release
}

// settled forgets an attempt that is not open any more, and gives the slot up where it is paid.
func (s *slots) settled(ctx context.Context, a Attempt) {
	if a.State == AttemptOpen {
		return
	}
	s.mu.Lock()
	release := s.releases[a.ID]
	delete(s.releases, a.ID)
	s.mu.Unlock()
	if release == nil || a.State != AttemptPaid {
		return
	}
	if err := release(ctx); err != nil {
		s.logger.Warn("slot of a paid order not released", zap.String("attempt", a.ID), zap.Error(err))
	}
}

// look finds what was settled elsewhere, and before its slot was kept.
func (s *slots) look(ctx context.Context) {
	s.mu.Lock()
	ids := make([]string, 0, len(s.releases))
	for id := range s.releases {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	for _, id := range ids {
		attempt, ok, err := s.ledger.Attempt(ctx, id)
		if err == nil && ok {
			s.settled(ctx, attempt)
		}
	}
}
