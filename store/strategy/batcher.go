package strategy

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// outcome answers one member of a group.
type outcome[A any] struct {
	answer A
	err    error
}

// batcher runs requests in groups, one group of a key at a time: whatever arrived meanwhile is the next one. A second group at
// once would only make both smaller, since they queue for the same row. A key without requests costs nothing: its worker ends
// when nobody waits.
type batcher[Q, A any] struct {
	run  func(key string, group []Q) []outcome[A] // answers in the order of the group
	most int                                      // members of a group

	mu     sync.Mutex
	idle   sync.Cond
	queues map[string]*queue[Q, A] // of the keys with a worker
}

// queue is what waits under one key, in order of arrival.
type queue[Q, A any] struct {
	waiting []*member[Q, A]
}

// member is one request and where its answer goes.
type member[Q, A any] struct {
	ctx      context.Context // of a caller that may leave before its group begins
	request  Q
	answered chan outcome[A] // holds one
}

func newBatcher[Q, A any](most int, run func(key string, group []Q) []outcome[A]) *batcher[Q, A] {
	b := &batcher[Q, A]{run: run, most: most, queues: map[string]*queue[Q, A]{}}
	b.idle.L = &b.mu
	return b
}

// join puts a request into the next group of a key. There will be one answer: an error if ctx ends before the group
// begins, else what the group says.
func (b *batcher[Q, A]) join(ctx context.Context, key string, request Q) <-chan outcome[A] {
	m := &member[Q, A]{ctx: ctx, request: request, answered: make(chan outcome[A], 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	if q == nil {
		q = &queue[Q, A]{}
		b.queues[key] = q
		go b.work(key, q) // drain waits for it
	}
	q.waiting = append(q.waiting, m)
	return m.answered
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

// work runs groups until nobody waits.
func (b *batcher[Q, A]) work(key string, q *queue[Q, A]) {
	for {
		b.settle(q)
		members := b.next(key, q)
		if members == nil {
			return
		}
		group := make([]Q, 0, len(members))
		staying := members[:0]
		for _, m := range members {
			if m.ctx.Err() != nil {
				m.answered <- outcome[A]{err: fmt.Errorf("wait for the group: %w", context.Cause(m.ctx))}
				continue
			}
			group, staying = append(group, m.request), append(staying, m)
		}
		var outcomes []outcome[A]
		if len(group) > 0 {
			outcomes = b.run(key, group)
		}
		for i, o := range outcomes {
			staying[i].answered <- o
		}
	}
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
		delete(b.queues, key)
		b.idle.Broadcast()
		return nil
	}
	n := min(len(q.waiting), b.most)
	group := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}
