package strategy

import (
	"context"

	"foyer/origin"
)

// atomicDB updates the event's row only if enough remains, with the hold in the same transaction. The row is locked for
// one statement and its commit.
type atomicDB struct {
	ledgerOnly
	ledger Ledger
}

var _ origin.Strategy = (*atomicDB)(nil)

func newAtomicDB(settings Settings) *atomicDB { return &atomicDB{ledger: settings.Ledger} }

// Hold implements [origin.Strategy].
func (s *atomicDB) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	return s.ledger.HoldConditional(ctx, request)
}
