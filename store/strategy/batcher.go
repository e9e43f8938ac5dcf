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
type batcher[Q, A any] struct {
	run     func(key string, group []*member[Q, A]) // answers each, or passes it on
	most    int                                     // members of a group
	settles bool                                    // members come one by one, and not in whole groups of another batcher

	mu     sync.Mutex
	idle   sync.Cond
	queues map[string]*queue[Q, A] // of the keys with a worker
}

// queue is what waits under one key, in order of arrival.
type queue[Q, A any] struct {
	waiting []*member[Q, A]
	slow    int  // workers whose group is slow
	worked  bool // there is another one
}

// member is one request and where its answer goes.
type member[Q, A any] struct {
	ctx      context.Context // of a caller that may leave before its group begins
	request  Q
	answered chan outcome[A] // holds one
}

// newBatcher makes a batcher whose groups are answered at their end, in their order.
func newBatcher[Q, A any](most int, run func(key string, group []Q) []outcome[A]) *batcher[Q, A] {
	return newStage(most, true, func(key string, members []*member[Q, A]) {
		group := make([]Q, len(members))
		for i, m := range members {
			group[i] = m.request
		}
		for i, o := range run(key, group) {
			members[i].answered <- o
		}
	})
}

// newStage makes a batcher that may pass members on to another one.
func newStage[Q, A any](most int, settles bool, run func(key string, group []*member[Q, A])) *batcher[Q, A] {
	b := &batcher[Q, A]{run: run, most: most, settles: settles, queues: map[string]*queue[Q, A]{}}
	b.idle.L = &b.mu
	return b
}

// join puts a request into the next group of a key. There will be one answer: an error if ctx ends before the group
// begins, else what the group says.
func (b *batcher[Q, A]) join(ctx context.Context, key string, request Q) <-chan outcome[A] {
	m := &member[Q, A]{ctx: ctx, request: request, answered: make(chan outcome[A], 1)}
	b.enqueue(key, m)
	return m.answered
}

// pass puts members of another batcher's group into the next group of a key, whether or not their callers stay.
func (b *batcher[Q, A]) pass(key string, members []*member[Q, A]) {
	for _, m := range members {
		m.ctx = context.Background()
	}
	if len(members) > 0 {
		b.enqueue(key, members...)
	}
}

func (b *batcher[Q, A]) enqueue(key string, members ...*member[Q, A]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	if q == nil {
		q = &queue[Q, A]{}
		b.queues[key] = q
	}
	q.waiting = append(q.waiting, members...)
	b.man(key, q)
}

// man gives a queue a worker, which drain waits for, if it needs one and may have it. The caller has the lock.
func (b *batcher[Q, A]) man(key string, q *queue[Q, A]) {
	if !q.worked && len(q.waiting) > 0 && q.slow < mostSlow {
		q.worked = true
		go b.work(key, q)
	}
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
	for {
		if b.settles {
			b.settle(q)
		}
		members := b.next(key, q)
		if members == nil {
			return
		}
		staying := members[:0]
		for _, m := range members {
			if m.ctx.Err() != nil {
				m.answered <- outcome[A]{err: fmt.Errorf("wait for the group: %w", context.Cause(m.ctx))}
				continue
			}
			staying = append(staying, m)
		}
		if len(staying) > 0 && !b.runTimed(key, q, staying) {
			return
		}
	}
}

// runTimed runs a group. If that takes long its worker is one too many from then on, unless there is no other at its end.
func (b *batcher[Q, A]) runTimed(key string, q *queue[Q, A], group []*member[Q, A]) (works bool) {
	ended, slow := false, false // under the lock
	timer := time.AfterFunc(b.patience(q), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !ended {
			slow, q.worked = true, false
			q.slow++
			b.man(key, q)
		}
	})
	b.run(key, group)
	timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	ended = true
	if !slow {
		return true
	}
	q.slow--
	if q.worked {
		return false
	}
	q.worked = true
	return true
}

// patience is how long a group may take until it is slow: the longer, the more slow ones there are already. Where each waits for
// the row that the one before it has, one more makes all of them later.
func (b *batcher[Q, A]) patience(q *queue[Q, A]) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slowGroup * time.Duration(1+q.slow)
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

// next takes the next group of a key, nil where the worker is to end.
func (b *batcher[Q, A]) next(key string, q *queue[Q, A]) []*member[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(q.waiting) == 0 {
		q.worked = false
		if q.slow == 0 {
			delete(b.queues, key)
			b.idle.Broadcast()
		}
		return nil
	}
	n := min(len(q.waiting), b.most)
	group := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}
