package admission_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"foyer/admission"
)

// errCut is what a store that cannot be reached answers.
var errCut = errors.New("connection refused")

// faulty is a store whose line can be cut, whose replies can be lost, and which can be exchanged for another.
type faulty struct {
	store     atomic.Pointer[admission.Store]
	down      atomic.Bool
	lose      atomic.Int32 // so many replies of Join, Claim, Renew and Release are lost after the step was done
	loseSyncs atomic.Int32 // so many replies of Sync are
	alarm     atomic.Int32 // so many Syncs are answered as if the line were lost
	deaf      atomic.Bool  // the replica "one" is cut off
	calls     atomic.Int64 // of Join, Claim, Renew and Release
	peak      atomic.Int64 // the most slots ever seen in a snapshot
}

var _ admission.Store = (*faulty)(nil)

func newFaulty(store admission.Store) *faulty {
	f := &faulty{}
	f.exchange(store)
	return f
}

// exchange puts another store in the place of the one before.
func (f *faulty) exchange(store admission.Store) { f.store.Store(&store) }

// through calls the store, unless the line to it is cut.
func through[R any](f *faulty, call func(admission.Store) (R, error)) (R, error) {
	if f.down.Load() {
		var none R
		return none, errCut
	}
	return call(*f.store.Load())
}

// verb is a call whose reply may be lost after it was done.
func verb[R any](f *faulty, call func(admission.Store) (R, error)) (R, error) {
	f.calls.Add(1)
	got, err := through(f, call)
	if err == nil && f.lose.Load() > 0 {
		f.lose.Add(-1)
		err = errCut
	}
	return got, err
}

func (f *faulty) Begin(ctx context.Context, round string, file admission.Rules) (admission.Standing, error) {
	return through(f, func(s admission.Store) (admission.Standing, error) { return s.Begin(ctx, round, file) })
}

func (f *faulty) Configure(ctx context.Context, seen admission.Seen, file admission.Rules) (admission.Standing, error) {
	return through(f, func(s admission.Store) (admission.Standing, error) { return s.Configure(ctx, seen, file) })
}

func (f *faulty) Change(ctx context.Context, seen admission.Seen, change admission.Change) (admission.Standing, error) {
	return through(f, func(s admission.Store) (admission.Standing, error) { return s.Change(ctx, seen, change) })
}

func (f *faulty) Sync(ctx context.Context, sync admission.Sync) (admission.Snapshot, error) {
	if f.deaf.Load() && sync.Replica == "one" {
		return admission.Snapshot{}, errCut
	}
	if f.alarm.Load() > 0 {
		f.alarm.Add(-1)
		return admission.Snapshot{}, admission.ErrLost
	}
	snap, err := through(f, func(s admission.Store) (admission.Snapshot, error) { return s.Sync(ctx, sync) })
	f.peak.Store(max(f.peak.Load(), int64(len(snap.Slots))))
	if err == nil && f.loseSyncs.Load() > 0 {
		f.loseSyncs.Add(-1)
		return admission.Snapshot{}, errCut
	}
	return snap, err
}

func (f *faulty) Join(ctx context.Context, join admission.Join) (admission.Joined, error) {
	return verb(f, func(s admission.Store) (admission.Joined, error) { return s.Join(ctx, join) })
}

func (f *faulty) Claim(ctx context.Context, seen admission.Seen, t admission.Ticket) (admission.Claimed, error) {
	return verb(f, func(s admission.Store) (admission.Claimed, error) { return s.Claim(ctx, seen, t) })
}

func (f *faulty) Renew(ctx context.Context, seen admission.Seen, t admission.Ticket, until time.Time) (admission.Claimed, error) {
	return verb(f, func(s admission.Store) (admission.Claimed, error) { return s.Renew(ctx, seen, t, until) })
}

func (f *faulty) Release(ctx context.Context, seen admission.Seen, t admission.Ticket) (admission.Standing, error) {
	return verb(f, func(s admission.Store) (admission.Standing, error) { return s.Release(ctx, seen, t) })
}

func (f *faulty) Reset(ctx context.Context, seen admission.Seen, round string) (admission.Standing, error) {
	return through(f, func(s admission.Store) (admission.Standing, error) { return s.Reset(ctx, seen, round) })
}

func (f *faulty) Restore(ctx context.Context, image admission.Image) (admission.Standing, error) {
	return through(f, func(s admission.Store) (admission.Standing, error) { return s.Restore(ctx, image) })
}

func (f *faulty) Vouch(ctx context.Context, seen admission.Seen, proof admission.Proof) (admission.Claimed, error) {
	return through(f, func(s admission.Store) (admission.Claimed, error) { return s.Vouch(ctx, seen, proof) })
}
