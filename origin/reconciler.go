package origin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

// stockLasts is how long the reading of a stock is good enough to tell a gate what is left.
const stockLasts = 200 * time.Millisecond

// reconciler has the strategy compared with the ledger, event by event.
type reconciler struct {
	ledger   Ledger
	strategy Strategy
	metrics  *metrics
	logger   *zap.Logger

	mu    sync.Mutex
	stock map[string]reading
}

// reading is what was left of an event, and when this was read.
type reading struct {
	left int64
	at   time.Time
}

// round reconciles every event, as a loop does it.
func (r *reconciler) round(ctx context.Context) {
	if _, err := r.all(ctx); err != nil && ctx.Err() == nil {
		r.logger.Error("not reconciled", zap.Error(err))
	}
}

// all reconciles every event and sums up.
func (r *reconciler) all(ctx context.Context) (Reconciliation, error) {
	stocks, err := r.ledger.Events(ctx)
	if err != nil {
		return Reconciliation{}, fmt.Errorf("list events: %w", err)
	}
	var sum Reconciliation
	for _, stock := range stocks {
		one, err := r.strategy.Reconcile(ctx, stock.ID)
		if err != nil {
			return sum, fmt.Errorf("reconcile event %s: %w", stock.ID, err)
		}
		r.metrics.drift.WithLabelValues(stock.ID).Set(float64(one.DriftAfter))
		if one.DriftBefore != 0 || one.StrandedReturned != 0 {
			r.logger.Info("counter mended", zap.String("event", stock.ID),
				zap.Int64("drift", one.DriftBefore), zap.Int64("stranded_returned", one.StrandedReturned))
		}
		sum.Checked += one.Checked
		sum.StrandedReturned += one.StrandedReturned
		sum.DriftBefore += one.DriftBefore
		sum.DriftAfter += one.DriftAfter
	}
	return sum, nil
}

// left is what an event has left to sell, units on hold included: read now, or a moment ago at most.
func (r *reconciler) left(ctx context.Context, event string, now bool) (int64, bool) {
	r.mu.Lock()
	last, known := r.stock[event]
	r.mu.Unlock()
	if known && !now && time.Since(last.at) < stockLasts {
		return last.left, true
	}
	stock, ok, err := r.ledger.Event(ctx, event)
	if err != nil || !ok {
		return 0, false
	}
	left := stock.Capacity - stock.Sold
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stock == nil {
		r.stock = make(map[string]reading)
	}
	r.stock[event] = reading{left, time.Now()}
	return left, true
}
