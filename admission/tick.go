package admission

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"
)

// owedPerTick bounds how many releases are repeated in one tick.
const owedPerTick = 16

// tick brings the view up to date: one Sync, and before the first the beginning of the line.
func (r *Room) tick() {
	if err := r.sync(); err != nil {
		r.trouble(err)
	} else {
		r.lostAt = time.Time{}
		r.vouch()
		r.settleDebts()
	}
	if v := r.view.Load(); v != nil {
		r.sessions.follow(v, r.clock.now())
	}
}

// sync makes one Sync and publishes what it shows.
func (r *Room) sync() error {
	if err := r.begin(); err != nil {
		return err
	}
	nth := r.begins.Add(1)
	near, far, confirmed := r.marks.take()
	report := Sync{Replica: r.replica, Near: near, Far: far, Confirmed: confirmed, Busy: r.sessions.busy(), SoldOut: r.heard.Load()}
	last := r.view.Load()
	if last != nil && last.snap.Run == r.link.expect().Run {
		report.Since = last.snap.Seq
	}
	slices.Sort(report.Busy)
	var snap Snapshot
	err := r.link.once("sync", func(ctx context.Context, seen Seen) (Standing, error) {
		report.Seen = seen
		var err error
		snap, err = r.link.store.Sync(ctx, report)
		return snap.Standing, err
	})
	if err != nil {
		r.marks.giveBack(near, far, confirmed)
		return err
	}
	if last == nil && snap.Tail == 0 && r.clock.local().Sub(r.begun) < settle {
		return nil // a line that nobody has joined may be one that others are about to restore
	}
	r.publish(newView(last, snap, r.meter.add(&snap)))
	r.heard.CompareAndSwap(report.SoldOut, nil) // unless the shop has said something else meanwhile
	r.shown.Store(nth)
	return nil
}

// Settled waits until Info shows what has been done by now, for a few ticks at most.
func (r *Room) Settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	look := time.NewTicker(Tick / 10)
	defer look.Stop()
	for begun := r.begins.Load(); r.shown.Load() <= begun; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// begin starts the line where this replica has never seen one, and takes the file's settings to the store where they
// are new.
func (r *Room) begin() error {
	if r.link.health() == storeLost {
		if err := r.mend(); err != nil {
			return err
		}
	} else if r.link.expect().Run == "" {
		if err := r.open(); err != nil {
			return err
		}
	}
	r.mu.Lock()
	file, stale := r.file, r.stale
	r.mu.Unlock()
	if !stale {
		return nil
	}
	err := r.link.once("configure", func(ctx context.Context, seen Seen) (Standing, error) {
		return r.link.store.Configure(ctx, seen, file)
	})
	if err == nil {
		r.mu.Lock()
		r.stale, r.told = r.file != file, file
		r.mu.Unlock()
	}
	return err
}

// open begins the line, or takes over that which stands.
func (r *Room) open() error {
	r.mu.Lock()
	file := r.file
	r.mu.Unlock()
	r.begun = r.clock.local()
	return r.link.once("begin", func(ctx context.Context, _ Seen) (Standing, error) {
		return r.link.store.Begin(ctx, rand.Text(), file)
	})
}

// publish makes a view the one that visitors are answered from.
func (r *Room) publish(v *view) {
	tail, _ := r.given()
	r.marks.follow(v.snap.Base, max(v.snap.Tail, tail))
	r.view.Store(v)
	r.link.deeds.shown(v.snap.Seq)
	if health(r.link.state.Swap(int32(storeUp))) != storeUp {
		r.problem = ""
		r.log.Info("store answers", zap.String("round", v.snap.Round), zap.Uint64("tail", uint64(v.snap.Tail)))
	}
	r.drop(v)
	r.measureIdle(v)
	select {
	case <-r.ready:
	default:
		close(r.ready)
	}
}

// drop forgets the tickets ended here that the view knows of.
func (r *Room) drop(v *view) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.gone.Load()
	if old == nil {
		return
	}
	left := make(map[Ticket]struct{}, len(*old))
	for t := range *old {
		if _, owed := r.owed[t]; owed || t >= v.snap.Base && !v.ended.Has(t) {
			left[t] = struct{}{}
		}
	}
	if len(left) == 0 {
		r.gone.Store(nil)
		return
	}
	r.gone.Store(&left)
}

// settleDebts repeats releases that the store has not confirmed.
func (r *Room) settleDebts() {
	r.mu.Lock()
	var due []Ticket
	for t := range r.owed {
		if due = append(due, t); len(due) == owedPerTick {
			break
		}
	}
	r.mu.Unlock()
	for _, t := range due {
		if r.link.release(t) != nil {
			return
		}
		r.mu.Lock()
		delete(r.owed, t)
		r.mu.Unlock()
	}
}

// measureIdle observes for how long a slot was free while somebody waited who could have had it.
func (r *Room) measureIdle(v *view) {
	rules, now := v.snap.Rules, v.snap.Now
	open := rules.Mode == ModeOn && !now.Before(rules.OpensAt) && !closed(rules, now)
	switch idle := open && v.free() > 0 && v.waiting() > 0; {
	case idle && r.idle.IsZero():
		r.idle = now
	case !idle && !r.idle.IsZero():
		r.observer.SlotIdle(max(now.Sub(r.idle), 0))
		r.idle = time.Time{}
	}
}

// trouble logs what is wrong with the store, once.
func (r *Room) trouble(err error) {
	if errors.Is(err, ErrLost) && r.lostAt.IsZero() {
		r.lostAt = r.clock.local()
	}
	if text := err.Error(); text != r.problem {
		r.problem = text
		r.log.Warn("store does not answer", zap.Stringer("store", r.link.health()), zap.Error(err))
	}
}
