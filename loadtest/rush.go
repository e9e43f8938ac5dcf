package loadtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Rush is the moment a sale opens: everybody asks for one unit of an event at the same instant, once, over connections
// that are open already. The shop is asked directly, without a gate.
type Rush struct {
	Base   string // of the shop
	Event  string
	Buyers int
	// Transport must keep Buyers connections.
	Transport *http.Transport
}

// Rushed is what came of it.
type Rushed struct {
	Answered int           // requests answered, whatever the answer
	Took     time.Duration // from the instant to the last answer
	Latency  *Latency
	Winners  []*Winner
	Refused  int
}

// Winner is a buyer with a hold.
type Winner struct {
	*Visitor
	Hold string
}

// Run warms the pool up, lets everybody go at once, and waits for the last answer. The first thing that breaks ends it.
func (r Rush) Run(ctx context.Context) (Rushed, error) {
	rushed := Rushed{Latency: NewLatency()}
	site := Site{Base: r.Base, Transport: r.Transport}
	visitors := make([]*Visitor, r.Buyers)
	for i := range visitors {
		visitors[i] = NewVisitor(site)
	}
	if err := r.warm(ctx, visitors); err != nil {
		return rushed, err
	}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		broken error
	)
	barrier := make(chan struct{})
	for _, visitor := range visitors {
		wg.Go(func() {
			<-barrier
			asked := time.Now()
			held, err := visitor.Hold(ctx, r.Event, 1)
			rushed.Latency.Record(time.Since(asked))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				broken = err
				return
			case held.ID != "":
				rushed.Winners = append(rushed.Winners, &Winner{Visitor: visitor, Hold: held.ID})
			default:
				rushed.Refused++
			}
			rushed.Answered++
		})
	}
	started := time.Now()
	close(barrier)
	wg.Wait()
	rushed.Took = time.Since(started)
	return rushed, broken
}

// warm has every visitor ask for the event, all at once: that opens the connections, here and from the shop to its
// ledger.
func (r Rush) warm(ctx context.Context, visitors []*Visitor) error {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		broken error
	)
	for _, visitor := range visitors {
		wg.Go(func() {
			if _, err := visitor.Stock(ctx, r.Event); err != nil {
				mu.Lock()
				defer mu.Unlock()
				broken = fmt.Errorf("warm up: %w", err)
			}
		})
	}
	wg.Wait()
	return broken
}

// Settle has the winner pay, and answers with the order.
func (w *Winner) Settle(ctx context.Context) (order string, err error) {
	paid, err := w.PayAgain(ctx, rand.Text())
	return paid.Order, err
}

// PayAgain sends a payment under a key until its outcome is known.
func (w *Winner) PayAgain(ctx context.Context, key string) (Paid, error) {
	for {
		paid, err := w.Pay(ctx, w.Hold, "pm_card_visa", key)
		switch {
		case err != nil:
			return paid, err
		case paid.Order != "":
			return paid, nil
		case paid.Again == 0:
			return paid, fmt.Errorf("pay for hold %s: %s", w.Hold, paid.Refusal)
		}
		if err := pause(ctx, paid.Again); err != nil {
			return paid, err
		}
	}
}
