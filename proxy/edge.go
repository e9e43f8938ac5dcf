package proxy

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// Edge is what visitors reach: an http.Handler for the server's edge listener.
type Edge struct {
	table  atomic.Pointer[table]
	handle handler

	mu        sync.Mutex // guards swaps
	upstreams upstreams

	drained  sync.Once
	draining chan struct{}
}

var _ http.Handler = (*Edge)(nil)

// New builds an edge.
func New(s Settings) (*Edge, error) {
	e := &Edge{draining: make(chan struct{})}
	if err := e.Swap(s); err != nil {
		return nil, err
	}
	e.handle = chain(e.steps(), forward)
	return e, nil
}

// Swap has all later requests judged by other settings. Those in flight finish by the old ones. On an error nothing
// has changed.
func (e *Edge) Swap(s Settings) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := newTable(s, &e.upstreams)
	if err != nil {
		return err
	}
	t.inherit(e.table.Load())
	e.table.Store(t)
	e.upstreams.keep(t)
	return nil
}

// Drain tells the edge that its server is about to stop: open streams are cut, and clients are asked to come back on
// another connection.
func (e *Edge) Drain() { e.drained.Do(func() { close(e.draining) }) }

// ServeHTTP sends a request through the steps of chain.go.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{r: r, table: e.table.Load(), closing: e.draining}
	x.w = &answer{ResponseWriter: w, settle: x.settle}
	e.handle(x)
}

// Draining reports whether Drain has been called.
func (e *Edge) Draining() bool {
	select {
	case <-e.draining:
		return true
	default:
		return false
	}
}

// Close gives up the connections that are kept open to upstreams. Requests in flight finish.
func (e *Edge) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.upstreams.inUse {
		r.close()
	}
}
