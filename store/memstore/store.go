package memstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"foyer/admission"
)

// Settings say which gate a Store is for.
type Settings struct {
	Gate string           // its name, for messages
	Now  func() time.Time // the clock; nil: time.Now

	Saved *admission.Image // the Image of the process before this one; nil: there was none
	Clean bool             // that process had stopped serving when it took it: nothing is missing
}

// Store is one gate's line in memory. The zero value is of no use; make one with New.
type Store struct {
	gate   string
	now    func() time.Time
	origin time.Time // a reading of now; later ones are measured from it, by the monotonic clock where there is one
	run    string

	mu   sync.Mutex
	line *line // nil until Begin
}

var _ admission.Store = (*Store)(nil)

// New makes a store, an incarnation of its own: empty, or with the line that was saved.
func New(settings Settings) *Store {
	now := settings.Now
	if now == nil {
		now = time.Now
	}
	s := &Store{gate: settings.Gate, now: now, origin: now(), run: rand.Text()}
	if settings.Saved != nil && settings.Saved.Round != "" {
		s.line = resumed(s.run, *settings.Saved, settings.Clean, s.clock())
	}
	return s
}

// Begin starts a round unless one is under way.
func (s *Store) Begin(ctx context.Context, round string, file admission.Rules) (admission.Standing, error) {
	if err := ctx.Err(); err != nil {
		return admission.Standing{}, fmt.Errorf("begin gate %s: %w", s.gate, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if s.line == nil {
		s.line = newLine(s.run, round, file, now)
	}
	return s.line.standing(now), nil
}

// Configure takes over what has changed in the configuration file.
func (s *Store) Configure(ctx context.Context, seen admission.Seen, file admission.Rules) (admission.Standing, error) {
	return step(ctx, s, "configure", seen, func(l *line, now int64) admission.Standing {
		l.configure(file)
		return l.standing(now)
	})
}

// Change sets effective values.
func (s *Store) Change(ctx context.Context, seen admission.Seen, change admission.Change) (admission.Standing, error) {
	return step(ctx, s, "change", seen, func(l *line, now int64) admission.Standing {
		l.change(change)
		return l.standing(now)
	})
}

// Join gives out tickets.
func (s *Store) Join(ctx context.Context, join admission.Join) (admission.Joined, error) {
	if join.N < 1 {
		return admission.Joined{}, errors.New("join gate " + s.gate + ": no ticket asked for")
	}
	return step(ctx, s, "join", join.Seen, func(l *line, now int64) admission.Joined { return l.join(join, now) })
}

// Sync brings the line and a replica up to date with each other.
func (s *Store) Sync(ctx context.Context, sync admission.Sync) (admission.Snapshot, error) {
	return step(ctx, s, "sync", sync.Seen, func(l *line, now int64) admission.Snapshot { return l.sync(sync, now) })
}

// Claim turns an offer into a lease.
func (s *Store) Claim(ctx context.Context, seen admission.Seen, ticket admission.Ticket) (admission.Claimed, error) {
	return step(ctx, s, "claim", seen, func(l *line, now int64) admission.Claimed {
		slot := l.claim(ticket, now)
		return admission.Claimed{Standing: l.standing(now), Slot: slot}
	})
}

// Renew moves a lease's end.
func (s *Store) Renew(ctx context.Context, seen admission.Seen, ticket admission.Ticket, until time.Time) (admission.Claimed, error) {
	return step(ctx, s, "renew", seen, func(l *line, now int64) admission.Claimed {
		slot := l.renew(ticket, until.UnixMilli(), now)
		return admission.Claimed{Standing: l.standing(now), Slot: slot}
	})
}

// Release ends a ticket for good.
func (s *Store) Release(ctx context.Context, seen admission.Seen, ticket admission.Ticket) (admission.Standing, error) {
	return step(ctx, s, "release", seen, func(l *line, now int64) admission.Standing {
		l.release(ticket, now)
		return l.standing(now)
	})
}

// Reset begins a new round.
func (s *Store) Reset(ctx context.Context, seen admission.Seen, round string) (admission.Standing, error) {
	return step(ctx, s, "reset", seen, func(l *line, now int64) admission.Standing {
		l.reset(round, now)
		return l.standing(now)
	})
}

// Restore takes over what a replica knows.
func (s *Store) Restore(ctx context.Context, image admission.Image) (admission.Standing, error) {
	if err := ctx.Err(); err != nil {
		return admission.Standing{}, fmt.Errorf("restore gate %s: %w", s.gate, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if s.line == nil {
		if image.Round == "" {
			return admission.Standing{}, fmt.Errorf("restore gate %s: %w: nobody holds it", s.gate, admission.ErrLost)
		}
		s.line = restored(s.run, image, now)
	}
	s.line.restore(image, now)
	return s.line.standing(now), nil
}

// Vouch takes over what a signed token proves.
func (s *Store) Vouch(ctx context.Context, seen admission.Seen, proof admission.Proof) (admission.Claimed, error) {
	return step(ctx, s, "vouch", seen, func(l *line, now int64) admission.Claimed {
		slot := l.vouch(proof, now)
		return admission.Claimed{Standing: l.standing(now), Slot: slot}
	})
}

// step runs one verb alone on the line, if the line is the one that the caller knows.
func step[R any](ctx context.Context, s *Store, verb string, seen admission.Seen, do func(*line, int64) R) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%s gate %s: %w", verb, s.gate, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if s.line == nil {
		return none, fmt.Errorf("%s gate %s: %w: nothing has begun", verb, s.gate, admission.ErrLost)
	}
	if err := s.line.known(seen, now); err != nil {
		return none, fmt.Errorf("%s gate %s: %w", verb, s.gate, err)
	}
	return do(s.line, now), nil
}

// clock is the store's time in Unix milliseconds.
func (s *Store) clock() int64 { return s.origin.Add(s.now().Sub(s.origin)).UnixMilli() }
