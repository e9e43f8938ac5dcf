package admission

import (
	"context"
	"sync"
	"time"
)

// gather is how long the first arrival of a batch waits for others.
const gather = 2 * time.Millisecond

// arrival is somebody who waits for a ticket.
type arrival struct {
	ctx  context.Context //nolint:containedctx // the arrival waits for as long as its request lives
	done chan arrived
}

// arrived is what an arrival got.
type arrived struct {
	standing Standing
	ticket   Ticket    // 0: none, for the reason in refusal or err
	leased   Ticket    // tickets up to this one of the same batch have a lease
	expires  time.Time // the end of that lease
	family   Family
	refusal  Refusal
	err      error
}

// joiner makes one Join of all arrivals of the same few milliseconds, in their order. One batch is under way at a time,
// so that the tickets of one replica follow the order of arrival. It is safe for concurrent use.
type joiner struct {
	join func(n int) []arrived // asks the store; answers for each of the n

	mu      sync.Mutex
	arrived []arrival
	stopped bool

	wake chan struct{} // capacity 1
}

// ask waits for a ticket. ok is false where the context ended first, or the joiner has.
func (j *joiner) ask(ctx context.Context) (got arrived, ok bool) {
	one := arrival{ctx: ctx, done: make(chan arrived, 1)}
	j.mu.Lock()
	if j.stopped {
		j.mu.Unlock()
		return arrived{}, false
	}
	j.arrived = append(j.arrived, one)
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
	select {
	case got, ok = <-one.done:
		return got, ok
	case <-ctx.Done():
		return arrived{}, false
	}
}

// run serves arrivals until the context ends; then whoever still waits is sent away.
func (j *joiner) run(ctx context.Context) {
	defer j.stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		j.serve(j.take())
	}
}

// take is everybody who has arrived and has not gone again.
func (j *joiner) take() (batch []arrival) {
	j.mu.Lock()
	all := j.arrived
	j.arrived = nil
	j.mu.Unlock()
	for _, one := range all {
		if one.ctx.Err() == nil {
			batch = append(batch, one)
		}
	}
	return batch
}

// serve gets a batch its tickets.
func (j *joiner) serve(batch []arrival) {
	if len(batch) == 0 {
		return
	}
	for i, got := range j.join(len(batch)) {
		batch[i].done <- got
	}
}

// stop sends away whoever waits, and whoever comes.
func (j *joiner) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
	for _, one := range j.arrived {
		close(one.done)
	}
	j.arrived = nil
}
