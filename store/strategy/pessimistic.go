package strategy

import (
	"context"

	"foyer/origin"
)

// pessimistic locks the event's row, reads, decides and writes, in one transaction of several round trips. Buyers queue
// for the row while each commits.
type pessimistic struct {
	ledgerOnly
	ledger Ledger
}

var _ origin.Strategy = (*pessimistic)(nil)

func newPessimistic(settings Settings) *pessimistic { return &pessimistic{ledger: settings.Ledger} }

// Hold implements [origin.Strategy].
func (s *pessimistic) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	return s.ledger.HoldPessimistic(ctx, request)
}
