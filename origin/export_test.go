package origin

import "context"

// Reap does one round of the reaper.
func (s *Shop) Reap(ctx context.Context) {
	(&reaper{ledger: s.settings.Ledger, strategy: s.settings.Strategy, metrics: s.metrics, logger: s.logger}).reap(ctx)
}
