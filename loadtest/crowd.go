package loadtest

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Crowd is many people who arrive one after the other.
type Crowd struct {
	People int
	// Over is the time over which they arrive, evenly; zero: all at once. Nobody's arrival waits for anybody's answer.
	Over time.Duration
	// Visit is one person's whole visit, called once for each i in [0, People).
	Visit func(ctx context.Context, i int) Outcome
}

// Tally counts what came of a crowd. It may be read while the crowd is on its way.
type Tally struct {
	Waits *Latency // time in line of those who got in

	mu      sync.Mutex
	arrived int
	ends    map[End]int
	orders  []string
	failure error
}

// NewTally is an empty tally.
func NewTally() *Tally { return &Tally{Waits: NewLatency(), ends: map[End]int{}} }

// Run sends the crowd and waits until everyone's visit has ended.
func (c Crowd) Run(ctx context.Context, tally *Tally) {
	var wg sync.WaitGroup
	started := time.Now()
	for i := range c.People {
		at := started.Add(c.Over * time.Duration(i) / time.Duration(max(c.People, 1)))
		if pause(ctx, time.Until(at)) != nil {
			break
		}
		tally.arrive()
		wg.Go(func() { tally.leave(c.Visit(ctx, i)) })
	}
	wg.Wait()
}

// Arrived is how many have arrived so far.
func (t *Tally) Arrived() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.arrived
}

// Ends is how many visits have ended in each way so far.
func (t *Tally) Ends() map[End]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.ends)
}

// Orders are the orders that buyers hold a receipt of.
func (t *Tally) Orders() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.orders...)
}

// Failure is the first thing that broke, or nil.
func (t *Tally) Failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

func (t *Tally) arrive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived++
}

func (t *Tally) leave(outcome Outcome) {
	switch outcome.End {
	case GaveUp, Refused, Failed, Cut:
	default:
		t.Waits.Record(outcome.Waited)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends[outcome.End]++
	if outcome.Order != "" {
		t.orders = append(t.orders, outcome.Order)
	}
	if outcome.Err != nil && t.failure == nil {
		t.failure = outcome.Err
	}
}
