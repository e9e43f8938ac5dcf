package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"foyer/origin"
	"foyer/store/strategy"
)

// benchTimes is how often a payment is delivered, and how many processes die between counter and ledger.
const benchTimes = 5

// idempotencyResult says what one payment, delivered several times, came to.
type idempotencyResult struct {
	Deliveries int `json:"deliveries"`
	Orders     int `json:"orders"`
	Charges    int `json:"charges"` // counted at the payment gateway
}

// reconcileResult says what crashes between the counter and the ledger stranded, and how much of it came back.
type reconcileResult struct {
	Stranded int64 `json:"stranded"`
	Returned int64 `json:"returned"`
}

// idempotency has one buyer's payment delivered again and again: three times by an impatient client, at once, and twice
// by the webhook of the payment gateway, which is sent once more.
func (b *benchRun) idempotency(ctx context.Context) (result idempotencyResult, err error) {
	const event = "bench-idempotency"
	made, err := strategy.New(strategy.GroupCommit, strategy.Settings{Ledger: b.ledger})
	if err != nil {
		return result, err
	}
	shop, err := b.openShop(ctx, made, event, b.settings.tickets, benchTimes)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, shop.stop()) }()
	rushed, err := shop.rush(ctx, 1)
	if err != nil {
		return result, err
	}
	if len(rushed.Winners) != 1 {
		return result, errors.New("the only buyer has no hold")
	}
	const byWebhook = 2
	key, orders := rand.Text(), map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range benchTimes - byWebhook {
		wg.Go(func() {
			paid, failed := rushed.Winners[0].PayAgain(ctx, key)
			mu.Lock()
			defer mu.Unlock()
			orders[paid.Order], err = true, errors.Join(err, failed)
		})
	}
	wg.Wait()
	if err = errors.Join(err, shop.redeliver(ctx, byWebhook)); err != nil {
		return result, err
	}
	if len(orders) != 1 {
		return result, fmt.Errorf("the client was told of %d orders", len(orders))
	}
	audit, _, err := b.ledger.Audit(ctx, event)
	if err != nil {
		return result, err
	}
	result = idempotencyResult{Deliveries: benchTimes, Orders: int(audit.Orders)}
	result.Charges, err = shop.charges(ctx)
	return result, err
}

// redeliver has the payment gateway send its webhook so many times more, and waits until the shop has answered them and
// the first one.
func (s *benchShop) redeliver(ctx context.Context, times int) error {
	address := fmt.Sprintf("%s/_simulator/redeliver?times=%d", s.till.base, times)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("redeliver the webhook: %w", err)
	}
	_ = answer.Body.Close() // only that it answered counts
	for deadline := time.Now().Add(20 * time.Second); s.hooks.Load() < int64(times)+1; {
		if time.Now().After(deadline) {
			return fmt.Errorf("redeliver the webhook: %d of %d came", s.hooks.Load(), times+1)
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// errCrash stands for a process that died.
var errCrash = errors.New("the process has died")

// reconcile lets processes die between the counter and the ledger, counts what is stranded by the two, and reconciles.
func (b *benchRun) reconcile(ctx context.Context) (result reconcileResult, err error) {
	const event = "bench-reconcile"
	if _, err := b.ledger.PutEvent(ctx, benchEvent(event, b.settings.tickets)); err != nil {
		return result, err
	}
	made, err := strategy.New(strategy.AtomicRedis, strategy.Settings{
		Ledger: b.ledger, Redis: b.client, Prefix: b.prefix, Grace: 100 * time.Millisecond,
		AfterTake: func(string) error { return errCrash },
	})
	if err != nil {
		return result, err
	}
	if _, err := made.Reconcile(ctx, event); err != nil { // the counter is built before the sale
		return result, err
	}
	for i := range min(benchTimes, b.settings.tickets) {
		_, err := made.Hold(ctx, origin.HoldRequest{
			ID: rand.Text(), Event: event, Buyer: fmt.Sprint(i), Quantity: 1, TTL: time.Minute,
		})
		if !errors.Is(err, errCrash) {
			return result, fmt.Errorf("hold %d did not die after its take: %w", i, err)
		}
	}
	before, err := made.Compare(ctx, event)
	if err != nil {
		return result, err
	}
	result.Stranded = -before.DriftBefore
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		after, err := made.Reconcile(ctx, event)
		if err != nil {
			return result, err
		}
		if result.Returned = result.Stranded + after.DriftAfter; after.DriftAfter == 0 {
			break // counter and ledger agree
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return result, err
		}
	}
	return result, nil
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
