package admission

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// OnStoreError says what becomes of requests while the store does not answer.
type OnStoreError string

// The values of on_store_error.
const (
	Hold   OnStoreError = "hold"   // those inside stay as long as their pass lasts, nobody new gets in
	Open   OnStoreError = "open"   // everyone passes
	Closed OnStoreError = "closed" // nobody does
)

// Observer is told what a Room sees, for metrics. Each may be nil. They must return at once.
type Observer struct {
	Rejected  func(reason Rejection)                         // a token that does not count
	Shared    func()                                         // a pass came back long after its successor
	Admitted  func(waited time.Duration)                     // a lease was given to somebody who waited so long
	Estimated func(off time.Duration)                        // actual wait less the first estimate of it
	SlotIdle  func(d time.Duration)                          // somebody waited so long while a slot was free
	Store     func(op string, took time.Duration, err error) // a call of the store
}

// RoomSettings make a Room.
type RoomSettings struct {
	Gate         string
	Replica      string // random per process; empty: made up
	Store        Store
	Keys         *Keyring
	Rules        Rules // the file's
	Inflight     int   // requests at once on one pass
	OnStoreError OnStoreError
	Observer     Observer
	Keeper       Keeper           // nil: nothing is kept beyond the process
	Logger       *zap.Logger      // nil: none
	Now          func() time.Time // the local clock; nil: time.Now
}

// Room is one replica's view of one gate. It answers visitors from what the last Sync has shown, and asks the store
// only where a ticket or a slot changes hands. It keeps nothing per visitor who waits. It is safe for concurrent use.
type Room struct {
	gate     string
	replica  string
	onError  atomic.Value // an OnStoreError
	tokens   *Verifier
	observer Observer
	keeper   Keeper
	log      *zap.Logger
	clock    *clock
	link     *link
	joiner   *joiner
	marks    marks
	sessions sessions

	view  atomic.Pointer[view]                // nil before the first Sync
	heard atomic.Pointer[bool]                // what the shop has said here of its stock, and the view does not show yet; nil: nothing
	gone  atomic.Pointer[map[Ticket]struct{}] // ended here, and not yet in the view
	ready chan struct{}                       // closed after the first Sync

	mu     sync.Mutex
	file   Rules               // of the configuration file
	stale  bool                // the store has not been given file yet
	told   Rules               // the file's values that it was given last, here or in an earlier life
	owed   map[Ticket]struct{} // releases that the store has not confirmed
	tail   Ticket              // highest ticket given out here
	leased Ticket              // highest ticket that a Join here has given a lease

	begins atomic.Uint64 // Syncs begun
	shown  atomic.Uint64 // that of the view

	meter   meter     // belongs to the goroutine that syncs, as does what follows
	idle    time.Time // since when a slot is free while somebody waits
	problem string    // last logged
	begun   time.Time // local: when this replica asked for a line to begin
	lostAt  time.Time // local: since when the line is found to be lost; zero: it is not
	kept    *Image    // of an earlier life of this replica; nil once there is a view, or none
}

// NewRoom makes a room. It does nothing until Run.
func NewRoom(s RoomSettings) *Room {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Replica == "" {
		s.Replica = rand.Text()
	}
	if s.Logger == nil {
		s.Logger = zap.NewNop()
	}
	s.Rules.Leeway = min(s.Rules.Leeway, s.Rules.Claim/4)
	clock := &clock{local: s.Now}
	r := &Room{
		gate: s.Gate, replica: s.Replica, observer: s.Observer.complete(), clock: clock, keeper: s.Keeper,
		log:    s.Logger.With(zap.String("gate", s.Gate)),
		tokens: NewVerifier(s.Gate, s.Keys, s.Rules.Leeway, clock.now),
		ready:  make(chan struct{}),
		file:   s.Rules, stale: true,
	}
	r.Adjust(s.Inflight, s.OnStoreError)
	r.link = &link{store: s.Store, clock: clock, observe: r.observer.Store}
	r.joiner = &joiner{join: r.join, wake: make(chan struct{}, 1)}
	r.recall()
	return r
}

// Ready is closed after the first Sync: before it, nothing gated is served.
func (r *Room) Ready() <-chan struct{} { return r.ready }

// Run syncs once per Tick and serves those who join, until the context ends.
func (r *Room) Run(ctx context.Context) error {
	var joins, keeps sync.WaitGroup
	joins.Go(func() { r.joiner.run(ctx) })
	stopped := make(chan struct{})
	keeps.Go(func() { r.keep(stopped) })
	defer keeps.Wait()
	defer close(stopped)
	defer joins.Wait()
	tick := time.NewTicker(Tick)
	defer tick.Stop()
	for {
		r.tick()
		select {
		case <-ctx.Done():
			r.tick() // what has been seen since goes to the other replicas
			return nil
		case <-tick.C:
		}
	}
}

// Reload takes over the values of a changed configuration file; those of the store follow with the next tick.
func (r *Room) Reload(file Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file.Leeway = min(file.Leeway, file.Claim/4)
	if r.file != file {
		r.file, r.stale = file, true
	}
}

// Adjust takes over what of a changed configuration file concerns this replica alone: how many requests may be in
// flight on one pass, for sessions that begin from now on, and what becomes of requests while the store does not answer.
func (r *Room) Adjust(inflight int, onError OnStoreError) {
	if onError == "" {
		onError = Hold
	}
	r.onError.Store(onError)
	r.sessions.inflight.Store(int64(inflight))
}

// Busy is how many tickets have a request in flight here.
func (r *Room) Busy() int { return len(r.sessions.busy()) }

// Change changes settings at run time, for every replica.
func (r *Room) Change(_ context.Context, change Change) error {
	return r.link.verb("change", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		return r.link.store.Change(ctx, seen, change)
	})
}

// Reset begins a new round: those who wait start again, those inside stay.
func (r *Room) Reset(_ context.Context) error {
	round := rand.Text()
	return r.link.verb("reset", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		return r.link.store.Reset(ctx, seen, round)
	})
}

// Release ends a ticket. This replica stops honouring its pass at once, the others with the next tick; where the store
// does not answer, it is told as soon as it does.
func (r *Room) Release(_ context.Context, t Ticket) error {
	if r.knows(t) {
		r.forget(t)
	}
	err := r.link.release(t)
	if err != nil && !errors.Is(err, ErrFull) {
		r.owe(t)
	}
	return err
}

// forget makes this replica count a ticket as ended before the store's next answer does.
func (r *Room) forget(t Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[Ticket]struct{}{t: {}}
	if old := r.gone.Load(); old != nil {
		maps.Copy(next, *old)
	}
	r.gone.Store(&next)
}

// owe remembers a release that may not have reached the store.
func (r *Room) owe(t Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owed == nil {
		r.owed = make(map[Ticket]struct{})
	}
	r.owed[t] = struct{}{}
}

// isGone reports whether a ticket was ended here since the view was made.
func (r *Room) isGone(t Ticket) bool {
	gone := r.gone.Load()
	if gone == nil {
		return false
	}
	_, ok := (*gone)[t]
	return ok
}

// complete replaces missing functions by ones that do nothing.
func (o Observer) complete() Observer {
	if o.Rejected == nil {
		o.Rejected = func(Rejection) {}
	}
	if o.Shared == nil {
		o.Shared = func() {}
	}
	if o.Admitted == nil {
		o.Admitted = func(time.Duration) {}
	}
	if o.Estimated == nil {
		o.Estimated = func(time.Duration) {}
	}
	if o.SlotIdle == nil {
		o.SlotIdle = func(time.Duration) {}
	}
	if o.Store == nil {
		o.Store = func(string, time.Duration, error) {}
	}
	return o
}
