package origin

import (
	"context"

	"go.uber.org/zap"
)

// reapLimit is how many holds one transaction ends.
const reapLimit = 500

// reaper ends expired holds and tells the strategy of their units.
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
