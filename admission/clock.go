package admission

import (
	"sync"
	"sync/atomic"
	"time"
)

// drift is how far two honest clocks run apart at most: one part in so many.
const drift = 5000

// The store's clock is foretold for so long after its last answer, since two honest clocks run apart, and while the
// local clock has not been set by more than so much.
const (
	foretellFor    = 10 * time.Minute
	foretellWithin = 100 * time.Millisecond
)

// clock tells the store's time, learnt from its answers: an answer that showed the time T, was asked for at a and had
// at b by the local clock, says that the store is between T-b and T-a ahead. Each answer narrows the bounds that those
// before have left; one that contradicts them starts anew. Steps of the local wall clock do not matter, since
// differences of time.Time are monotonic. It is safe for concurrent use.
type clock struct {
	local func() time.Time

	mu   sync.Mutex // held by learn
	read atomic.Pointer[reading]
}

// reading is the store's time at a local instant.
type reading struct {
	local, store time.Time
	slack        time.Duration // the store's time lies so far to either side at most
	truly        time.Time     // the process's own monotonic clock at that instant
}

// now is the store's time as far as it is known, and the local one before that.
func (c *clock) now() time.Time {
	now := c.local()
	if r := c.read.Load(); r != nil {
		return r.at(now)
	}
	return now
}

// foretell is what the store's clock should show now; zero where that cannot be said: nothing has been heard of it for
// too long, or the local clock is one without a monotonic reading and was set since.
func (c *clock) foretell() time.Time {
	r := c.read.Load()
	if r == nil {
		return time.Time{}
	}
	now := c.local()
	passed, truly := now.Sub(r.local), time.Since(r.truly)
	if passed > foretellFor || (passed-truly).Abs() > foretellWithin {
		return time.Time{}
	}
	return r.at(now)
}

// learn takes over what an answer showed.
func (c *clock) learn(shown, asked, had time.Time) {
	if shown.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	slack := had.Sub(asked) / 2
	middle := shown.Add(slack) // the store's time at had, if the way back took as long as the way there
	if r := c.read.Load(); r != nil {
		old, oldSlack := r.at(had), r.slack+had.Sub(r.local).Abs()/drift
		low := later(old.Add(-oldSlack), middle.Add(-slack))
		high := earlier(old.Add(oldSlack), middle.Add(slack))
		if !high.Before(low) {
			slack = high.Sub(low) / 2
			middle = low.Add(slack)
		}
	}
	c.read.Store(&reading{local: had, store: middle, slack: slack, truly: time.Now()})
}

// at is the store's time at another local instant.
func (r *reading) at(local time.Time) time.Time { return r.store.Add(local.Sub(r.local)) }

// earlier is the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
