package storetest

import (
	"sync/atomic"
	"testing"

	"foyer/origin"
)

func settlePaidMakesOneOrder(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	h := hold(t, l, request("h", "e", "b", 2))
	pay(t, l, "a", h)
	var changed atomic.Int64
	orders := make(chan origin.Order, 10)
	crowd(t, 10, func(int) error {
		settled, err := l.Settle(t.Context(), origin.Settlement{Attempt: "a", State: origin.AttemptPaid, Charge: "ch"})
		if settled.Changed {
			changed.Add(1)
		}
		orders <- settled.Order
		return err
	})
	first := <-orders
	for range 9 {
		if next := <-orders; next != first {
			t.Errorf("orders %+v and %+v", first, next)
		}
	}
	if changed.Load() != 1 || first.ID == "" || first.Hold != "h" || first.Attempt != "a" || first.Charge != "ch" || first.Amount != 2400 {
		t.Errorf("changed %d times, order %+v", changed.Load(), first)
	}
	if read, ok, err := l.Order(t.Context(), first.ID); err != nil || !ok || read != first {
		t.Errorf("read back: %+v %v %v", read, ok, err)
	}
	if late := settle(t, l, "a", origin.AttemptDeclined); late.Attempt.State != origin.AttemptPaid || late.Order != first || late.Changed {
		t.Errorf("a failure after the success: %+v", late)
	}
	if got, _, _ := l.Hold(t.Context(), "h"); got.State != origin.HoldSold || got.Order != first.ID {
		t.Errorf("the hold: %+v", got)
	}
	wantStock(t, l, "e", 0, 2)
	audit, _, err := l.Audit(t.Context(), "e")
	if err != nil || audit.Orders != 1 || audit.ChargesCaptured != 1 || audit.ChargesRefunded != 0 {
		t.Errorf("audit: %+v %v", audit, err)
	}
	if _, ok, err := l.Order(t.Context(), "none"); ok || err != nil {
		t.Errorf("no order: %v %v", ok, err)
	}
}

// settleDeclined is case F3 as far as the ledger goes.
func settleDeclined(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	h := hold(t, l, request("h", "e", "b", 2))
	pay(t, l, "a", h)
	word := origin.Settlement{Attempt: "a", State: origin.AttemptDeclined, Reason: "card declined"}
	settled, err := l.Settle(t.Context(), word)
	if err != nil || settled.Hold.State != origin.HoldActive || settled.Attempt.Reason != "card declined" || settled.Freed != nil || !settled.Changed {
		t.Errorf("declined: %+v %v", settled, err)
	}
	pay(t, l, "b", settled.Hold)
	if again, err := l.Settle(t.Context(), word); err != nil || again.Hold.State != origin.HoldPaying || again.Changed {
		t.Errorf("the first decline again: %+v %v", again, err)
	}
	if paid := settle(t, l, "b", origin.AttemptPaid); paid.Order.Attempt != "b" {
		t.Errorf("paid with another card: %+v", paid)
	}
	wantStock(t, l, "e", 0, 2)
}

func settleDeclinedLate(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	pay(t, l, "a", hold(t, l, request("h", "e", "b", 2)))
	overdue(t, l, "h")
	settled := settle(t, l, "a", origin.AttemptDeclined)
	want := origin.Ended{Hold: "h", Event: "e", Quantity: 2}
	if settled.Hold.State != origin.HoldExpired || settled.Freed == nil || *settled.Freed != want {
		t.Errorf("declined late: %+v", settled)
	}
	if again := settle(t, l, "a", origin.AttemptDeclined); again.Freed != nil || again.Changed {
		t.Errorf("again: %+v", again)
	}
	wantStock(t, l, "e", 0, 0)
}

// settlePaidLate: the gateway says paid for holds that have ended meanwhile. The first gets its seats again, the second
// finds none and is due a refund.
func settlePaidLate(t *testing.T, l LedgerStore) {
	event(t, l, "e", 3, 3)
	for _, id := range []string{"h", "i"} {
		h := hold(t, l, request(id, "e", "buyer of "+id, 1))
		pay(t, l, "a-"+id, h)
		settle(t, l, "a-"+id, origin.AttemptCanceled)
		if _, freed, _, err := l.Release(t.Context(), id, h.Buyer); err != nil || !freed {
			t.Fatalf("release: %v %v", freed, err)
		}
	}
	hold(t, l, request("others", "e", "o", 2))
	if settled := settle(t, l, "a-h", origin.AttemptPaid); settled.Order.ID == "" || settled.Hold.State != origin.HoldSold {
		t.Errorf("one seat was left: %+v", settled)
	}
	settled := settle(t, l, "a-i", origin.AttemptPaid)
	if settled.Order.ID != "" || settled.Attempt.State != origin.AttemptRefundDue || settled.Attempt.Charge == "" {
		t.Errorf("none was left: %+v", settled)
	}
	wantStock(t, l, "e", 2, 1)
	if err := l.Refunded(t.Context(), "a-i", 1200); err != nil {
		t.Error(err)
	}
	audit, _, err := l.Audit(t.Context(), "e")
	if err != nil || audit.ChargesCaptured != 2 || audit.ChargesRefunded != 1 || audit.Orders != 1 {
		t.Errorf("audit: %+v %v", audit, err)
	}
}

// settlePaidLateByTheNewLimit: the buyer has taken other units meanwhile, which only a raised limit allows for.
func settlePaidLateByTheNewLimit(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 2)
	pay(t, l, "a", hold(t, l, request("h", "e", "b", 2)))
	settle(t, l, "a", origin.AttemptCanceled)
	if _, freed, _, err := l.Release(t.Context(), "h", "b"); err != nil || !freed {
		t.Fatalf("release: %v %v", freed, err)
	}
	hold(t, l, request("i", "e", "b", 2))
	event(t, l, "e", 9, 4)
	if settled := settle(t, l, "a", origin.AttemptPaid); settled.Hold.State != origin.HoldSold {
		t.Errorf("within the raised limit: %+v", settled)
	}
	wantStock(t, l, "e", 2, 2)
	event(t, l, "e", 9, 1)
	if _, freed, _, err := l.Release(t.Context(), "i", "b"); err != nil || !freed {
		t.Errorf("a lowered limit forbids giving back: %v %v", freed, err)
	}
}

func settleUnknown(t *testing.T, l LedgerStore) {
	settled, err := l.Settle(t.Context(), origin.Settlement{Attempt: "none", State: origin.AttemptPaid})
	if err != nil || settled != (origin.Settled{}) {
		t.Errorf("%+v %v", settled, err)
	}
}
