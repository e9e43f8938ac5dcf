package strategy

import (
	"context"

	"foyer/origin"
)

// groupCommit joins whatever arrived for an event while its last transaction ran into the next one.
type groupCommit struct {
	ledgerOnly
	groups *batcher[origin.HoldRequest, origin.HoldReply]
}

var _ origin.Strategy = (*groupCommit)(nil)

func newGroupCommit(settings Settings) *groupCommit {
	return &groupCommit{groups: newBatcher(settings.Group,
		func(event string, requests []origin.HoldRequest) []outcome[origin.HoldReply] {
			return holdGroup(settings.Ledger, event, requests)
		})}
}

// Hold implements [origin.Strategy]. A caller that leaves before its group has begun takes nothing; after that the hold
// may have been made, and the same id finds it.
func (s *groupCommit) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	return await(ctx, s.groups.join(ctx, request.Event, request))
}

// Run implements [origin.Strategy]. At its end it waits for the transactions that are under way.
func (s *groupCommit) Run(ctx context.Context) error {
	<-ctx.Done()
	s.groups.drain()
	return nil
}
