package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// guardEvery is how often a request that takes long is looked after.
const guardEvery = time.Second

// Causes of a request's end that are ours.
var (
	errLeaseEnded = errors.New("the lease has ended")
	errDraining   = errors.New("the server is about to stop")
	errStalled    = errors.New("the upstream does not take the body")
)

// guard gives an exchange a context that ends in time: an open stream with its lease, or when the server is about to
// stop; any other request, so much later that it may finish, with its lease. stop ends the guard.
func (x *exchange) guard() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(x.r.Context())
	x.stall = cancel
	g := &guard{x: x, cancel: cancel}
	if holdsSlot(x.verdict) {
		g.over = x.gate.Room.Over(x.verdict.Ticket)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(guardEvery, g.look)
	return ctx, g.stop
}

// guard watches over one request in flight.
type guard struct {
	x      *exchange
	cancel context.CancelCauseFunc
	over   <-chan struct{} // closed when the lease has ended; nil without one

	mu    sync.Mutex
	timer *time.Timer
	done  bool
	ended time.Time // when the lease was first found to have ended
}

// stop ends the guard, and the context.
func (g *guard) stop() {
	g.mu.Lock()
	g.done = true
	g.timer.Stop()
	g.mu.Unlock()
	g.cancel(nil)
}

// look cancels the request if its time has come, and otherwise looks again later.
func (g *guard) look() {
	if cause := g.cause(time.Now()); cause != nil {
		g.cancel(cause)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.done {
		g.timer.Reset(guardEvery)
	}
}

// cause is why the request must end now, or nil.
func (g *guard) cause(now time.Time) error {
	stream := g.x.stream.Load()
	if stream {
		select {
		case <-g.x.closing:
			return errDraining
		default:
		}
	}
	select {
	case <-g.over:
	default:
		return nil
	}
	if g.ended.IsZero() {
		g.ended = now
	}
	limit := g.x.table.writeTimeout
	if stream || limit > 0 && now.Sub(g.ended) >= limit {
		return errLeaseEnded
	}
	return nil
}

// upload watches that the upstream takes the body of a request.
type upload struct {
	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
	done  bool
}

// watchUpload ends a request whose upstream takes nothing of the body for so long. The time that the visitor takes to
// send it is not counted.
func (x *exchange) watchUpload(limit time.Duration) {
	x.up = &upload{limit: limit, timer: time.AfterFunc(limit, func() { x.stall(errStalled) })}
	x.body.before, x.body.behind = x.up.pause, x.up.resume
}

// stopUpload ends the watch: the upstream has answered.
func (x *exchange) stopUpload() {
	if x.up != nil {
		x.up.mu.Lock()
		x.up.done = true
		x.up.timer.Stop()
		x.up.mu.Unlock()
	}
}

// pause stops the clock while the visitor sends.
func (u *upload) pause() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.timer.Stop()
}

// resume starts it again.
func (u *upload) resume() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.done {
		u.timer.Reset(u.limit)
	}
}
