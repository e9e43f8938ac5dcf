package admission

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	enterWait  = 5 * time.Second // how long a request beyond session.inflight waits
	renewEvery = time.Second     // a ticket is renewed once in so long by one replica
	sharedLag  = time.Minute     // an older pass that comes back so long after its successor was shared
)

// session is what a replica knows of one lease it serves.
type session struct {
	slots      *semaphore.Weighted // requests in flight
	entered    int                 // requests in flight or waiting for it
	since      time.Time           // of the first of them
	listed     bool                // a view has shown the lease since then
	over       chan struct{}       // closed when the lease has ended
	ended      bool                // it is
	renewed    time.Time           // last renewal asked for
	generation int                 // highest shown
	raised     time.Time           // when it was first shown
	used       time.Time           // when the session was last looked at
}

// sessions are the leases a replica serves: no more than the gate has slots, give or take a tick. It is safe for
// concurrent use.
type sessions struct {
	inflight atomic.Int64 // requests at once on one lease

	mu   sync.Mutex
	open map[Ticket]*session
}

// getLocked is the session of a ticket, a new one where there is none.
func (s *sessions) getLocked(t Ticket, now time.Time) *session {
	one := s.open[t]
	if one == nil {
		if s.open == nil {
			s.open = make(map[Ticket]*session)
		}
		one = &session{slots: semaphore.NewWeighted(max(1, s.inflight.Load()))}
		s.open[t] = one
	}
	one.used = now
	return one
}

// enter counts a request in flight. It waits for one of the others to end where there are too many, up to enterWait.
func (s *sessions) enter(ctx context.Context, t Ticket, now time.Time) (leave func(), ok bool) {
	s.mu.Lock()
	one := s.getLocked(t, now)
	if one.entered == 0 {
		one.since, one.listed, one.ended, one.over = now, false, false, make(chan struct{})
	}
	one.entered++
	s.mu.Unlock()

	out := func(release int64) {
		one.slots.Release(release)
		s.mu.Lock()
		one.entered--
		s.mu.Unlock()
	}
	if !one.slots.TryAcquire(1) {
		ctx, cancel := context.WithTimeout(ctx, enterWait)
		defer cancel()
		if one.slots.Acquire(ctx, 1) != nil {
			out(0)
			return nil, false
		}
	}
	return sync.OnceFunc(func() { out(1) }), true
}

// over is closed when the lease of a ticket with a request in flight ends; nil where there is none.
func (s *sessions) over(t Ticket) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[t]; one != nil && one.entered > 0 {
		return one.over
	}
	return nil
}

// mayRenew reports whether it is this request's turn to renew a ticket that another may be renewing.
func (s *sessions) mayRenew(t Ticket, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.getLocked(t, now)
	if now.Sub(one.renewed) < renewEvery {
		return false
	}
	one.renewed = now
	return true
}

// show takes over the generation of a pass; shared is true where it is older than one that was shown long before.
func (s *sessions) show(t Ticket, generation int, now time.Time) (shared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.getLocked(t, now)
	switch {
	case generation > one.generation || one.raised.IsZero():
		one.generation, one.raised = generation, now
	case generation < one.generation && now.Sub(one.raised) > sharedLag:
		one.raised = now // counted once a minute
		return true
	}
	return false
}

// busy lists the tickets with a request in flight.
func (s *sessions) busy() (list []Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, one := range s.open {
		if one.entered > 0 {
			list = append(list, t)
		}
	}
	return list
}

// follow takes over a view: it tells streams whose lease is over, and forgets sessions that have ended.
func (s *sessions) follow(v *view, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, one := range s.open {
		switch kind := v.slot(t, now).Kind; {
		case kind == Lease:
			one.listed = true
		case one.entered > 0:
			if !one.ended && (one.listed || now.Sub(one.since) > settle) {
				close(one.over)
				one.ended = true
			}
		case now.Sub(one.used) > renewEvery:
			delete(s.open, t)
		}
	}
}
