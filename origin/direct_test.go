package origin_test

import (
	"context"

	"foyer/origin"
	"foyer/store/strategy"
)

// direct is the ledger's own conditional hold as a strategy: nothing is kept beside the ledger.
type direct struct{ strategy.Ledger }

func (d direct) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	return d.HoldConditional(ctx, request)
}

func (d direct) Pending(context.Context, string) (origin.Hold, bool, error) {
	return origin.Hold{}, false, nil
}

func (d direct) GaveBack(context.Context, origin.Ended) error { return nil }

func (d direct) Reconcile(_ context.Context, event string) (origin.Reconciliation, error) {
	return origin.Reconciliation{Event: event}, nil
}

func (d direct) Compare(_ context.Context, event string) (origin.Reconciliation, error) {
	return origin.Reconciliation{Event: event}, nil
}

func (d direct) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
