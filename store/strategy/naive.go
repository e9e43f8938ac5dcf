package strategy

import (
	"context"

	"foyer/origin"
)

// naive reads what remains, checks it, and writes. Whoever reads before another has written sells the same unit again: it
// is the control that must oversell, so that a test of the others proves something.
type naive struct {
	ledgerOnly
	control Control
}

var _ origin.Strategy = (*naive)(nil)

func newNaive(settings Settings) *naive { return &naive{control: settings.Control} }

// Hold implements [origin.Strategy], but for its promise.
func (s *naive) Hold(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	return s.control.HoldUnguarded(ctx, request)
}
