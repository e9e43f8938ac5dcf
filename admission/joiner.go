package admission

import (
	"context"
	"sync"
	"time"
)

const (
	// gather is how long the first arrival of a batch waits for others.
	gather = 2 * time.Millisecond
	// batchMost bounds a batch: whoever gets a ticket has a token to sign, and with all of a burst awake at once the next
	// answer of the store would be read only after the last of them, when it counts as late.
	batchMost = 2048
)

// batch is arrivals that share a Join, in their order. One channel serves them all.
type batch struct {
	arrivals []context.Context //nolint:containedctx // each waits for as long as its request lives
	done     chan struct{}
	got      []arrived // by the place of the arrival; to be read when done is closed
}

// arrived is what an arrival got.
type arrived struct {
	standing Standing
	ticket   Ticket    // 0: none, for the reason in refusal or err, or because it has gone
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
	batches []*batch // who has arrived; only the last one is not full
	stopped bool

	wake chan struct{} // capacity 1
}

// ask waits for a ticket. ok is false where the context ended first, or the joiner has.
func (j *joiner) ask(ctx context.Context) (got arrived, ok bool) {
	b, place := j.enter(ctx)
	if b == nil {
		return arrived{}, false
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	select {
	case <-b.done:
		if place < len(b.got) {
			got = b.got[place]
		}
		return got, got.ticket != 0 || got.refusal != NotRefused || got.err != nil
	case <-ctx.Done():
		return arrived{}, false
	}
}

// enter puts an arrival behind those who came before; nil where nobody is served any more.
func (j *joiner) enter(ctx context.Context) (b *batch, place int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped {
		return nil, 0
	}
	if last := len(j.batches) - 1; last >= 0 && len(j.batches[last].arrivals) < batchMost {
		b = j.batches[last]
	} else {
		b = &batch{done: make(chan struct{})}
		j.batches = append(j.batches, b)
	}
	b.arrivals = append(b.arrivals, ctx)
	return b, len(b.arrivals) - 1
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
		for b := j.next(); b != nil; b = j.next() {
			j.serve(b)
			if ctx.Err() != nil {
				return
			}
			if len(b.arrivals) < batchMost {
				break // who has come meanwhile waits for others
			}
		}
	}
}

// next takes the batch that came first; nil where nobody waits.
func (j *joiner) next() (b *batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.batches) > 0 {
		b, j.batches = j.batches[0], j.batches[1:]
	}
	return b
}

// serve gets a batch its tickets, but for those who have gone again.
func (j *joiner) serve(b *batch) {
	defer close(b.done)
	places := make([]int, 0, len(b.arrivals))
	for place, ctx := range b.arrivals {
		if ctx.Err() == nil {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return
	}
	b.got = make([]arrived, len(b.arrivals))
	for i, got := range j.join(len(places)) {
		b.got[places[i]] = got
	}
}

// stop sends away whoever waits, and whoever comes.
func (j *joiner) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
	for _, b := range j.batches {
		close(b.done)
	}
	j.batches = nil
}
