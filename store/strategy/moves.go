package strategy

import (
	"context"
	"errors"

	"foyer/origin"
)

// WholeLedger is a database as the shop and the strategies see it.
type WholeLedger interface {
	origin.Ledger
	Ledger
}

// GroupedLedger is a ledger whose releases and settlements are taken in groups, like the holds of group_commit: each changes the
// event's row, which else lets through one commit after the other. Those of an event that arrive while its last
// transaction runs are the next one; the member that the database rejects fails alone.
type GroupedLedger struct {
	WholeLedger
	moves *batcher[origin.Wish, origin.Granted]
}

var _ origin.Ledger = (*GroupedLedger)(nil)

// Grouped makes a ledger that takes releases and settlements in groups.
func Grouped(ledger WholeLedger) *GroupedLedger {
	return &GroupedLedger{WholeLedger: ledger, moves: newBatcher(defaultGroup,
		func(event string, wishes []origin.Wish) []outcome[origin.Granted] {
			return moveGroup(ledger, event, wishes)
		})}
}

// Release implements [origin.Ledger]. The hold's event never changes, so it is read without a lock.
func (g *GroupedLedger) Release(ctx context.Context, id, buyer string) (origin.Hold, bool, origin.Refusal, error) {
	hold, ok, err := g.Hold(ctx, id)
	if err != nil {
		return origin.Hold{}, false, origin.NotRefused, err
	}
	if !ok {
		return origin.Hold{}, false, origin.NoSuchHold, nil
	}
	granted, err := await(ctx, g.moves.join(ctx, hold.Event, origin.Wish{Hold: id, Buyer: buyer}))
	if err != nil {
		return origin.Hold{}, false, origin.NotRefused, err
	}
	return granted.Hold, granted.Freed != nil, granted.Refusal, nil
}

// Settle implements [origin.Ledger].
func (g *GroupedLedger) Settle(ctx context.Context, settle origin.Settlement) (origin.Settled, error) {
	attempt, ok, err := g.Attempt(ctx, settle.Attempt)
	if err != nil || !ok {
		return origin.Settled{}, err
	}
	granted, err := await(ctx, g.moves.join(ctx, attempt.Event, origin.Wish{Hold: attempt.Hold, Settle: settle}))
	return granted.Settled, err
}

// Close waits for the groups that are under way, and closes the ledger.
func (g *GroupedLedger) Close() error {
	g.moves.drain()
	if closer, ok := g.WholeLedger.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}

// moveGroup grants a group. One that the database rejects is halved until the wish that it cannot store stands alone. A lost
// answer is the caller's to ask for again: every wish may be repeated.
func moveGroup(ledger Ledger, event string, wishes []origin.Wish) []outcome[origin.Granted] {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	granted, err := ledger.MoveGroup(ctx, event, wishes)
	if errors.Is(err, origin.ErrRejected) && len(wishes) > 1 {
		half := len(wishes) / 2
		return append(moveGroup(ledger, event, wishes[:half]), moveGroup(ledger, event, wishes[half:])...)
	}
	out := make([]outcome[origin.Granted], len(wishes))
	for i := range out {
		if out[i].err = err; err == nil {
			out[i].answer = granted[i]
		}
	}
	return out
}
