package storetest

import (
	"context"
	"testing"
	"time"

	"foyer/origin"
)

// reaper ends what has lapsed until ctx ends.
func (h *History) reaper(ctx context.Context) {
	every(ctx, 4*time.Millisecond, func(ctx context.Context) {
		h.record(historyClients, call{verb: verbExpire}, func() (answer, error) {
			ended, err := h.shelf.Ledger.Expire(context.WithoutCancel(ctx), 3)
			var a answer
			for _, one := range ended {
				a.ended = append(a.ended, h.numbered(one.Hold))
				if told := h.shelf.Strategy.GaveBack(context.WithoutCancel(ctx), one); err == nil {
					err = told
				}
			}
			return a, err
		})
	})
}

// sellOut takes one unit after the other, with nobody else about, until there are none: none was lost.
func (h *History) sellOut(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		report, err := h.shelf.Strategy.Reconcile(t.Context(), historyEvent)
		if err == nil && report.DriftAfter == 0 && report.Pending == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the strategy does not settle: %+v %v", report, err)
		}
	}
	for buyer := historyBuying; buyer < historyBuyers; buyer++ {
		for range h.shelf.Limit {
			one := call{verb: verbHold, hold: len(h.holds), buyer: buyer, quantity: 1, exact: true}
			if one.hold == historyHolds {
				return
			}
			h.holds = append(h.holds, one)
			if h.take(t.Context(), historyClients, one, false).refusal == origin.SoldOut {
				return
			}
		}
	}
	t.Error("there is no end to the units")
}

// audit reads the whole event.
func (h *History) audit(t *testing.T) {
	t.Helper()
	ids := make([]string, len(h.holds))
	for i := range ids {
		ids[i] = holdName(i)
	}
	h.record(historyClients, call{verb: verbAudit}, func() (answer, error) {
		stock, holds, err := h.shelf.Ledger.Standing(t.Context(), historyEvent, ids)
		if err != nil {
			t.Fatal(err)
		}
		final := &eventState{held: stock.Held, sold: stock.Sold}
		for i, id := range ids {
			final.holds[i].state = holdAt(holds[id].State)
			for n := range historyAttempts {
				attempt, _, err := h.shelf.Ledger.Attempt(t.Context(), attemptName(call{hold: i, attempt: n}))
				if err != nil {
					t.Fatal(err)
				}
				final.holds[i].attempts[n] = attemptAt(attempt.State)
			}
		}
		return answer{final: final}, nil
	})
}

// numbered finds the hold of a name.
func (h *History) numbered(name string) call {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.holds {
		if holdName(one.hold) == name {
			return one
		}
	}
	return call{}
}
