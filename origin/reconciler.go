package origin

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// reconciler has the strategy compared with the ledger, event by event.
type reconciler struct {
	ledger   Ledger
	strategy Strategy
	metrics  *metrics
	logger   *zap.Logger
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
