package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

func startPaymentIsGuarded(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	h := hold(t, l, request("h", "e", "b", 2))
	start := func(attempt, hold, buyer string) origin.PaymentReply {
		t.Helper()
		reply, err := l.StartPayment(t.Context(), origin.PaymentStart{Attempt: attempt, Hold: hold, Buyer: buyer, Method: "pm"})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if reply := start("a", "none", "b"); reply.Refusal != origin.NoSuchHold {
		t.Errorf("no hold: %+v", reply)
	}
	if reply := start("a", "h", "other"); reply.Refusal != origin.NoSuchHold || reply.Hold.ID != "" {
		t.Errorf("another buyer: %+v", reply)
	}
	first := start("a", "h", "b")
	if first.Refusal != origin.NotRefused || first.Hold.State != origin.HoldPaying || first.Attempt.State != origin.AttemptOpen || first.Attempt.Amount != 2400 {
		t.Errorf("started: %+v", first)
	}
	if again := start("a", "h", "b"); again.Refusal != origin.NotRefused || again.Attempt.ID != "a" || again.Hold.State != origin.HoldPaying {
		t.Errorf("the same attempt: %+v", again)
	}
	if second := start("a2", "h", "b"); second.Refusal != origin.PaymentPending || second.Attempt.ID != "a" {
		t.Errorf("a second one while the first is open: %+v", second)
	}
	if _, _, refusal, err := l.Release(t.Context(), "h", "b"); err != nil || refusal != origin.PaymentInProgress {
		t.Errorf("release: %q %v", refusal, err)
	}
	settled := settle(t, l, "a", origin.AttemptPaid)
	if late := start("a3", "h", "b"); late.Refusal != origin.AlreadyPaid || late.Order != settled.Order {
		t.Errorf("after it was paid: %+v", late)
	}
	if same := start("a", "h", "b"); same.Refusal != origin.NotRefused || same.Order != settled.Order || same.Attempt.State != origin.AttemptPaid {
		t.Errorf("the paid attempt: %+v", same)
	}
	if _, _, refusal, err := l.Release(t.Context(), "h", "b"); err != nil || refusal != origin.AlreadyPaid {
		t.Errorf("release: %q %v", refusal, err)
	}
	r := request("lapsed", "e", "b", 1)
	r.TTL = 1
	h = hold(t, l, r)
	lapse(t, l, h.ExpiresAt)
	if reply := start("a4", "lapsed", "b"); reply.Refusal != origin.HoldIsExpired {
		t.Errorf("lapsed: %+v", reply)
	}
}

func startPaymentOneOpen(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	hold(t, l, request("h", "e", "b", 2))
	var started atomic.Int64
	crowd(t, 10, func(i int) error {
		reply, err := l.StartPayment(t.Context(), origin.PaymentStart{Attempt: fmt.Sprint("a", i), Hold: "h", Buyer: "b"})
		if err == nil && reply.Refusal == origin.NotRefused {
			started.Add(1)
		}
		return err
	})
	if started.Load() != 1 {
		t.Errorf("%d attempts started", started.Load())
	}
}

func keepIntentOnlyWhileOpen(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	pay(t, l, "a", hold(t, l, request("h", "e", "b", 2)))
	for range 2 {
		if err := l.KeepIntent(t.Context(), "a", "pi_1"); err != nil {
			t.Errorf("keep: %v", err)
		}
	}
	if err := l.KeepIntent(t.Context(), "a", "pi_2"); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("another intent: %v", err)
	}
	if attempt, ok, err := l.Attempt(t.Context(), "pi_1"); err != nil || !ok || attempt.ID != "a" || attempt.Intent != "pi_1" {
		t.Errorf("by its intent: %+v %v %v", attempt, ok, err)
	}
	settle(t, l, "a", origin.AttemptCanceled)
	if err := l.KeepIntent(t.Context(), "a", "pi_1"); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("after it was ended: %v", err)
	}
	if _, ok, err := l.Attempt(t.Context(), "none"); ok || err != nil {
		t.Errorf("no attempt: %v %v", ok, err)
	}
}

func openHandsToOne(t *testing.T, l LedgerStore) {
	const idle = 3 * time.Second // longer than the crowd is at it: who was handed out is handed out again after that
	event(t, l, "e", 50, 50)
	for i := range 20 {
		pay(t, l, fmt.Sprint("a", i), hold(t, l, request(fmt.Sprint("h", i), "e", "b", 1)))
	}
	settle(t, l, "a0", origin.AttemptPaid)
	if some, err := l.Open(t.Context(), time.Hour, 100); err != nil || len(some) != 0 {
		t.Errorf("none is an hour old: %d %v", len(some), err)
	}
	now, err := l.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, l, now.Add(idle))
	var seen [4]map[string]bool
	crowd(t, 4, func(i int) error {
		seen[i] = map[string]bool{}
		some, err := l.Open(t.Context(), idle, 5)
		for _, attempt := range some {
			seen[i][attempt.ID] = true
			if attempt.State != origin.AttemptOpen || attempt.Age < idle {
				t.Errorf("open: %+v", attempt)
			}
		}
		return err
	})
	all := map[string]bool{}
	total := 0
	for _, s := range seen {
		for id := range s {
			all[id] = true
		}
		total += len(s)
	}
	if len(all) != total || all["a0"] || total == 0 {
		t.Errorf("%d handed out, %d different", total, len(all))
	}
}

func refundedNotesOnce(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	pay(t, l, "a", hold(t, l, request("h", "e", "b", 2)))
	order := settle(t, l, "a", origin.AttemptPaid).Order
	for _, amount := range []int64{2400, 1} {
		if err := l.Refunded(t.Context(), "a", amount); err != nil {
			t.Error(err)
		}
	}
	if got, _, err := l.Order(t.Context(), order.ID); err != nil || got.Refunded != 2400 {
		t.Errorf("order: %+v %v", got, err)
	}
	if got, _, err := l.Attempt(t.Context(), "a"); err != nil || got.State != origin.AttemptRefunded {
		t.Errorf("attempt: %+v %v", got, err)
	}
	wantStock(t, l, "e", 0, 2)
}

func keepWebhookAppliesOnce(t *testing.T, l LedgerStore) {
	event(t, l, "e", 9, 9)
	pay(t, l, "a", hold(t, l, request("h", "e", "b", 2)))
	hook := origin.Webhook{ID: "evt_1", Provider: "simulator", Type: "payment_intent.succeeded", Intent: "pi", Payload: []byte(`{"x":1}`)}
	word := origin.Settlement{Attempt: "a", State: origin.AttemptPaid, Charge: "ch"}
	var fresh atomic.Int64
	crowd(t, 10, func(int) error {
		first, settled, err := l.KeepWebhook(t.Context(), hook, &word)
		if first {
			fresh.Add(1)
			if settled.Order.ID == "" {
				t.Errorf("settled: %+v", settled)
			}
		}
		return err
	})
	if fresh.Load() != 1 {
		t.Errorf("fresh %d times", fresh.Load())
	}
	wantStock(t, l, "e", 0, 2)
	other := origin.Webhook{ID: "evt_1", Provider: "stripe", Type: "unknown"}
	if first, settled, err := l.KeepWebhook(t.Context(), other, nil); err != nil || !first || settled != (origin.Settled{}) {
		t.Errorf("another provider's: %v %+v %v", first, settled, err)
	}
	unknown := origin.Settlement{Attempt: "none", State: origin.AttemptPaid}
	if first, settled, err := l.KeepWebhook(t.Context(), origin.Webhook{ID: "evt_2", Provider: "simulator"}, &unknown); err != nil || !first || settled != (origin.Settled{}) {
		t.Errorf("an unknown attempt's: %v %+v %v", first, settled, err)
	}
}

// refundDueIsFound: a refund that the operator asked for is found by the resolver if its process dies.
func refundDueIsFound(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 5)
	pay(t, l, "attempt", hold(t, l, request("a", "e", "b", 1)))
	if err := l.RefundDue(t.Context(), "attempt"); err != nil {
		t.Fatal(err)
	}
	if a, _, err := l.Attempt(t.Context(), "attempt"); err != nil || a.State != origin.AttemptOpen {
		t.Errorf("one that is not paid: %+v %v", a, err)
	}
	order := settle(t, l, "attempt", origin.AttemptPaid).Order
	for range 2 {
		if err := l.RefundDue(t.Context(), "attempt"); err != nil {
			t.Fatal(err)
		}
	}
	if some, err := l.Open(t.Context(), 0, 10); err != nil || len(some) != 1 || some[0].State != origin.AttemptRefundDue {
		t.Errorf("found %+v %v", some, err)
	}
	if again := settle(t, l, "attempt", origin.AttemptPaid); again.Order != order || again.Changed {
		t.Errorf("told of the payment again: %+v", again)
	}
	if err := l.Refunded(t.Context(), "attempt", 1200); err != nil {
		t.Fatal(err)
	}
	if err := l.RefundDue(t.Context(), "attempt"); err != nil {
		t.Fatal(err)
	}
	if some, err := l.Open(t.Context(), 0, 10); err != nil || len(some) != 0 {
		t.Errorf("refunded, and found again: %+v %v", some, err)
	}
	wantSound(t, l)
}
