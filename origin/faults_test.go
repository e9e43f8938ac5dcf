package origin_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"foyer/origin"
)

// faulty is a gateway whose calls can be stopped before they are made, or their answers lost after.
type faulty struct {
	origin.Gateway
	lose   sync.Map // call → *atomic.Int64, how many of its answers are still to be lost
	before func(ctx context.Context, call string) error
	after  func(ctx context.Context, call string) error
}

var errLost = errors.New("the connection was lost")

// faults makes the gateway of a house faulty.
func faults(g origin.Gateway) origin.Gateway { return &faulty{Gateway: g} }

// loses has the next answers of a call lost.
func (h *house) loses(call string, answers int64) {
	left := new(atomic.Int64)
	left.Store(answers)
	h.gateway.(*faulty).lose.Store(call, left)
}

func (f *faulty) around(ctx context.Context, call string, make func() error) error {
	if f.before != nil {
		if err := f.before(ctx, call); err != nil {
			return err
		}
	}
	if err := make(); err != nil {
		return err
	}
	if left, found := f.lose.Load(call); found && left.(*atomic.Int64).Add(-1) >= 0 {
		return errLost
	}
	if f.after != nil {
		return f.after(ctx, call)
	}
	return nil
}

func (f *faulty) CreateIntent(ctx context.Context, key string, n origin.NewIntent) (intent origin.Intent, err error) {
	err = f.around(ctx, "create", func() error { intent, err = f.Gateway.CreateIntent(ctx, key, n); return err })
	return intent, err
}

func (f *faulty) Confirm(ctx context.Context, key, id string) (intent origin.Intent, err error) {
	err = f.around(ctx, "confirm", func() error { intent, err = f.Gateway.Confirm(ctx, key, id); return err })
	return intent, err
}

func (f *faulty) Intent(ctx context.Context, id string) (intent origin.Intent, err error) {
	err = f.around(ctx, "retrieve", func() error { intent, err = f.Gateway.Intent(ctx, id); return err })
	return intent, err
}

func (f *faulty) Cancel(ctx context.Context, key, id string) (intent origin.Intent, err error) {
	err = f.around(ctx, "cancel", func() error { intent, err = f.Gateway.Cancel(ctx, key, id); return err })
	return intent, err
}

func (f *faulty) Refund(ctx context.Context, key, id string, amount int64) error {
	return f.around(ctx, "refund", func() error { return f.Gateway.Refund(ctx, key, id, amount) })
}

// doomed sends a payment to a process that dies at a point: "before" or "after" and a call to the gateway. It is dead
// from when reached is set until it is buried, which wakes it up.
func (h *house) doomed(buyer, hold, key, point string) (running *sync.WaitGroup, reached *atomic.Bool, bury func()) {
	h.Helper()
	reached = new(atomic.Bool)
	buried := make(chan struct{})
	die := func(when string) func(context.Context, string) error {
		return func(_ context.Context, call string) error {
			if when+" "+call != point || reached.Swap(true) {
				return nil
			}
			<-buried
			return nil // as if it had only slept: the most dangerous way to be dead
		}
	}
	settings := h.settings
	settings.Gateway = &faulty{Gateway: h.gateway, before: die("before"), after: die("after")}
	shop, err := origin.New(settings)
	if err != nil {
		h.Fatal(err)
	}
	running = new(sync.WaitGroup)
	running.Go(func() {
		r := httptest.NewRequest("POST", "/api/holds/"+hold+"/pay", strings.NewReader(`{"payment_method":"pm_card_visa"}`))
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("X-Foyer-Visitor", buyer)
		r.Header.Set("Idempotency-Key", key)
		shop.Handler().ServeHTTP(httptest.NewRecorder(), r)
	})
	return running, reached, sync.OnceFunc(func() { close(buried) })
}

// pause waits; an error when the context ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
