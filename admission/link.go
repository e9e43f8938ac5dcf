package admission

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	callTime  = 400 * time.Millisecond // one call of the store
	callTries = 2                      // how often a verb is asked, since each is safe to repeat
	joinTries = 3
)

// health is what a replica thinks of its store.
type health int32

const (
	storeNew  health = iota // never heard of
	storeUp                 // the last call was answered
	storeDown               // the last call was not
	storeLost               // it answered that the line is lost
)

// String is the health as the admin API names it.
func (h health) String() string {
	switch h {
	case storeUp:
		return "ok"
	case storeLost:
		return "lost"
	default:
		return "down"
	}
}

// errAside: the store has not answered lately, so it is not asked. The next Sync that succeeds ends this.
var errAside = errors.New("the store does not answer")

// link is a replica's connection to the store of one gate. It knows what the store has said about itself, and keeps
// requests from waiting on one that does not answer. It is safe for concurrent use.
type link struct {
	store   Store
	clock   *clock
	observe func(op string, took time.Duration, err error)
	state   atomic.Int32 // a health

	deeds deeds // slots given or lengthened by calls from here

	mu   sync.Mutex
	seen Seen // Now is left zero
}

// health is what the last call has shown.
func (l *link) health() health { return health(l.state.Load()) }

// expect is what the next call says that the caller knows.
func (l *link) expect() Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen
	if seen.Run != "" {
		seen.Now = l.clock.foretell()
	}
	return seen
}

// heard takes over what an answer says about the store.
func (l *link) heard(s Standing, asked time.Time) {
	l.clock.learn(s.Now, asked, l.clock.local())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen.Run != s.Run {
		l.seen = Seen{Run: s.Run}
	}
	l.seen.Seq = max(l.seen.Seq, s.Seq)
}

// once makes one call, in bounded time, whatever becomes of the request that it is for: a step that may have been done
// must be known to have been. An answer leaves the health as it is: only a Sync says that all is well again.
func (l *link) once(op string, call func(context.Context, Seen) (Standing, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	asked := l.clock.local()
	standing, err := call(ctx, l.expect())
	l.observe(op, l.clock.local().Sub(asked), err)
	switch {
	case err == nil:
		l.heard(standing, asked)
	case errors.Is(err, ErrLost):
		l.state.Store(int32(storeLost))
	case !errors.Is(err, ErrFull):
		l.state.Store(int32(storeDown))
	}
	return err
}

// verb makes a call for a request, again where no answer came, and none at all while the store does not answer.
func (l *link) verb(op string, tries int, call func(context.Context, Seen) (Standing, error)) error {
	if l.health() != storeUp {
		return errAside
	}
	var err error
	for range tries {
		if err = l.once(op, call); err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrFull) {
			return err
		}
	}
	return err
}

// claim turns an offer into a lease.
func (l *link) claim(t Ticket) (slot Slot, err error) {
	err = l.verb("claim", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		got, err := l.store.Claim(ctx, seen, t)
		slot = got.Slot
		l.deeds.add(got.Standing, slot, err)
		return got.Standing, err
	})
	return slot, err
}

// renew lengthens a lease.
func (l *link) renew(t Ticket, until time.Time) (slot Slot, err error) {
	err = l.verb("renew", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		got, err := l.store.Renew(ctx, seen, t, until)
		slot = got.Slot
		l.deeds.add(got.Standing, slot, err)
		return got.Standing, err
	})
	return slot, err
}

// release ends a ticket.
func (l *link) release(t Ticket) error {
	return l.verb("release", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		return l.store.Release(ctx, seen, t)
	})
}

// join asks for n tickets under one request id.
func (l *link) join(id string, n int, family Family) (got Joined, err error) {
	err = l.verb("join", joinTries, func(ctx context.Context, seen Seen) (Standing, error) {
		var err error
		got, err = l.store.Join(ctx, Join{Seen: seen, ID: id, N: n, Family: family})
		for i := range got.Leased {
			slot := Slot{Ticket: got.First + Ticket(i), Kind: Lease, Start: got.Now, Expires: got.Expires}
			l.deeds.add(got.Standing, slot, err)
		}
		return got.Standing, err
	})
	return got, err
}
