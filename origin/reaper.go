package origin

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	reapLimit = 500 // holds that one transaction ends, and keys that it forgets
	// keysLast is how long an idempotency key is kept after its last claim. Clients may repeat a request for a day, as
	// gateways themselves promise; the hour more is for the run that the claim was for.
	keysLast   = 25 * time.Hour
	sweepEvery = time.Minute
)

// reaper ends expired holds and tells the strategy of their units; and it forgets old idempotency keys.
type reaper struct {
	ledger   Ledger
	strategy Strategy
	metrics  *metrics
	logger   *zap.Logger
}

// reap ends all that have expired. What it could not tell the strategy the reconciler finds.
func (r *reaper) reap(ctx context.Context) {
	for ctx.Err() == nil {
		ended, err := r.ledger.Expire(ctx, reapLimit)
		if err != nil {
			if ctx.Err() == nil {
				r.logger.Error("expired holds not ended", zap.Error(err))
			}
			return
		}
		r.metrics.expired.Add(float64(len(ended)))
		for _, one := range ended {
			if err := r.strategy.GaveBack(ctx, one); err != nil {
				r.logger.Warn("strategy not told of freed units", zap.String("hold", one.Hold), zap.Error(err))
			}
		}
		if len(ended) < reapLimit {
			return
		}
	}
}

// sweep forgets the keys that are old enough.
func (r *reaper) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		forgotten, err := r.ledger.SweepKeys(ctx, keysLast, reapLimit)
		if err != nil && ctx.Err() == nil {
			r.logger.Error("old idempotency keys not forgotten", zap.Error(err))
		}
		if err != nil || forgotten < reapLimit {
			return
		}
	}
}
