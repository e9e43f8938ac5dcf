package strategy

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// outcome answers one member of a group.
type outcome[A any] struct {
	answer A
	err    error
}

const (
	// slowGroup is how long a group may take, if no other is slow, until those who wait go on without it: its connection may be
	// dead and say nothing.
	slowGroup = 2 * time.Second
	// mostSlow is how many groups of a key run at once at most: nobody goes on without so many slow ones.
	mostSlow = 4
)

// batcher runs requests in groups, one group of a key at a time: whatever arrived meanwhile is the next one. A second group at
// once would only make both smaller, since they queue for the same row; only behind a slow one another begins. A key without
// requests costs nothing: its worker ends when nobody waits.
//
// Of two stages the second begins a group behind the one that runs, once all who were on the way to it have come: nobody would
// make the group larger by the time that its turn comes, and it can be sent before the row is free.
type batcher[Q, A any] struct {
	run  func(key string, group []*member[Q, A]) []*member[Q, A] // answers each, or returns it for the next stage
	most int                                                     // members of a group

	next, before *batcher[Q, A] // the stages beside it, nil where there is none

	mu     sync.Mutex
	idle   sync.Cond
	queues map[string]*queue[Q, A] // of the keys with a worker
}

// queue is what waits under one key, in order of arrival.
type queue[Q, A any] struct {
	waiting []*member[Q, A]
	running int // groups
	slow    int // workers whose group is slow
	workers int // other ones
}

// member is one request and where its answer goes.
type member[Q, A any] struct {
	ctx      context.Context // of a caller that may leave before its group begins
	request  Q
	answered chan outcome[A] // holds one
}

// newBatcher makes a batcher whose groups are answered at their end, in their order.
func newBatcher[Q, A any](most int, run func(key string, group []Q) []outcome[A]) *batcher[Q, A] {
	return newStage(most, nil, func(key string, members []*member[Q, A]) []*member[Q, A] {
		group := make([]Q, len(members))
		for i, m := range members {
			group[i] = m.request
		}
		for i, o := range run(key, group) {
			members[i].answered <- o
		}
		return nil
	})
}

// newStage makes a batcher whose groups pass members on to the next one.
func newStage[Q, A any](most int, next *batcher[Q, A], run func(key string, group []*member[Q, A]) []*member[Q, A]) *batcher[Q, A] {
	b := &batcher[Q, A]{run: run, most: most, next: next, queues: map[string]*queue[Q, A]{}}
	b.idle.L = &b.mu
	if next != nil {
		next.before = b
	}
	return b
}

// join puts a request into the next group of a key. There will be one answer: an error if ctx ends before the group
// begins, else what the group says.
func (b *batcher[Q, A]) join(ctx context.Context, key string, request Q) <-chan outcome[A] {
	m := &member[Q, A]{ctx: ctx, request: request, answered: make(chan outcome[A], 1)}
	b.enqueue(key, m)
	return m.answered
}

// pass puts members of the stage before into the next group of a key, whether or not their callers stay.
func (b *batcher[Q, A]) pass(key string, members []*member[Q, A]) {
	for _, m := range members {
		m.ctx = context.Background()
	}
	b.enqueue(key, members...)
}

func (b *batcher[Q, A]) enqueue(key string, members ...*member[Q, A]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	if q == nil {
		if len(members) == 0 {
			return
		}
		q = &queue[Q, A]{}
		b.queues[key] = q
	}
	q.waiting = append(q.waiting, members...)
	b.man(key, q)
}

// man gives a queue a worker, which drain waits for, if it needs one and may have it. The caller has the lock.
func (b *batcher[Q, A]) man(key string, q *queue[Q, A]) {
	if len(q.waiting) > 0 && q.slow < mostSlow && b.mayWork(key, q, q.workers+1) {
		q.workers++
		go b.work(key, q)
	}
}

// mayWork tells whether a key may have so many workers, slow ones aside. Where one is slow nobody goes ahead: what he waits for is
// what all of them would.
func (b *batcher[Q, A]) mayWork(key string, q *queue[Q, A], workers int) bool {
	return workers == 1 || workers == 2 && q.slow == 0 && b.before != nil && b.before.free(key)
}

// free tells whether nobody of a key waits or is in a group.
func (b *batcher[Q, A]) free(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	return q == nil || len(q.waiting) == 0 && q.running == 0
}

// drain waits until no group runs and nobody waits.
func (b *batcher[Q, A]) drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queues) > 0 {
		b.idle.Wait()
	}
}

// await waits for an answer, or for the caller to leave.
func await[A any](ctx context.Context, answered <-chan outcome[A]) (A, error) {
	select {
	case o := <-answered:
		return o.answer, o.err
	case <-ctx.Done():
		var none A
		return none, fmt.Errorf("wait for the group: %w", context.Cause(ctx))
	}
}

// work runs groups until nobody waits, or another worker does since this one was slow.
func (b *batcher[Q, A]) work(key string, q *queue[Q, A]) {
	for works := true; works; {
		if b.before == nil {
			b.settle(q)
		}
		group := b.group(key, q)
		if group == nil {
			return
		}
		works = b.runTimed(key, q, group)
	}
}

// runTimed runs a group without those who have left. If that takes long its worker is one too many from then on, unless there is
// room for it at its end.
func (b *batcher[Q, A]) runTimed(key string, q *queue[Q, A], group []*member[Q, A]) (works bool) {
	ended, slow := false, false // under the lock
	timer := time.AfterFunc(b.patience(q), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !ended {
			slow = true
			q.workers--
			q.slow++
			b.man(key, q)
		}
	})
	b.runWhole(key, q, group)
	timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	ended = true
	if slow {
		q.slow--
		q.workers++
	}
	if works = b.mayWork(key, q, q.workers); !works {
		q.workers--
	}
	return works
}

// runWhole runs a group until all of it is answered or in the next stage.
func (b *batcher[Q, A]) runWhole(key string, q *queue[Q, A], group []*member[Q, A]) {
	var passed []*member[Q, A]
	if staying := dismiss(group); len(staying) > 0 {
		passed = b.run(key, staying)
	}
	b.mu.Lock()
	q.running--
	b.mu.Unlock()
	if b.next != nil {
		b.next.pass(key, passed)
	}
	if b.before != nil {
		runtime.Gosched() // who has an answer may be on the way here again
	}
}

// dismiss answers those whose caller has left, and returns the others.
func dismiss[Q, A any](group []*member[Q, A]) []*member[Q, A] {
	staying := group[:0]
	for _, m := range group {
		if m.ctx.Err() != nil {
			m.answered <- outcome[A]{err: fmt.Errorf("wait for the group: %w", context.Cause(m.ctx))}
			continue
		}
		staying = append(staying, m)
	}
	return staying
}

// patience is how long a group may take until it is slow: the longer, the more run already. Where each waits for the row that the
// one before it has, one more makes all of them later.
func (b *batcher[Q, A]) patience(q *queue[Q, A]) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slowGroup * time.Duration(q.slow+q.workers)
}

// settle lets those who are about to join do so, else the first of them has a group of his own and all others wait for it: it
// yields until a yield brings nobody more, or the group is full.
func (b *batcher[Q, A]) settle(q *queue[Q, A]) {
	for n, more := 0, -1; n != more && more < b.most; {
		n = more
		runtime.Gosched()
		b.mu.Lock()
		more = len(q.waiting)
		b.mu.Unlock()
	}
}

// group takes the next group of a key, nil where the worker is to end.
func (b *batcher[Q, A]) group(key string, q *queue[Q, A]) []*member[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(q.waiting) == 0 {
		q.workers--
		if q.slow+q.workers == 0 {
			delete(b.queues, key)
			b.idle.Broadcast()
		}
		return nil
	}
	q.running++
	n := min(len(q.waiting), b.most)
	group := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}
