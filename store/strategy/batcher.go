package strategy

import (
	"context"
	"fmt"
	"sync"
)

// outcome answers one member of a group.
type outcome[A any] struct {
	answer A
	err    error
}

// batcher runs requests in groups: whatever arrived under a key while its last groups ran is the next one. Where several
// groups of a key run at once each takes its share of all who are there, else a group of one would make a hundred wait for a
// commit of its own. A key without requests costs nothing: its workers end when nobody waits.
type batcher[Q, A any] struct {
	run     func(key string, group []Q) []outcome[A] // answers in the order of the group
	workers int                                      // groups of a key that run at once
	most    int                                      // members of a group

	mu     sync.Mutex
	idle   sync.Cond
	queues map[string]*queue[Q, A]
}

// queue is what waits under one key, in order of arrival.
type queue[Q, A any] struct {
	waiting []*member[Q, A]
	running int // members of the groups that run
	workers int
}

// member is one request and where its answer goes.
type member[Q, A any] struct {
	ctx      context.Context // of a caller that may leave before its group begins
	request  Q
	answered chan outcome[A] // holds one
}

func newBatcher[Q, A any](workers, most int, run func(key string, group []Q) []outcome[A]) *batcher[Q, A] {
	b := &batcher[Q, A]{run: run, workers: workers, most: most, queues: map[string]*queue[Q, A]{}}
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
	}
	q.waiting = append(q.waiting, m)
	if q.workers < b.workers {
		q.workers++
		go b.work(key, q) // drain waits for it
	}
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
		members := b.next(key, q)
		if members == nil {
			return
		}
		taken := len(members)
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
		b.ended(q, taken)
		for i, o := range outcomes {
			staying[i].answered <- o
		}
	}
}

// ended notes the end of a group, before its members are told, who may come again.
func (b *batcher[Q, A]) ended(q *queue[Q, A], members int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.running -= members
}

// next takes the next group of a key, nil where the worker is to end.
func (b *batcher[Q, A]) next(key string, q *queue[Q, A]) []*member[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(q.waiting) == 0 {
		if q.workers--; q.workers == 0 {
			delete(b.queues, key)
			b.idle.Broadcast()
		}
		return nil
	}
	share := (len(q.waiting) + q.running + b.workers - 1) / b.workers
	n := min(len(q.waiting), share, b.most)
	q.running += n
	group := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}
