package origin_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"foyer/origin"
)

// inside is a buyer with a slot, who counts how often it is given up.
func inside(buyer string, released *atomic.Int64) origin.Caller {
	return origin.Caller{Buyer: buyer, Gated: true, Slot: true, Release: func(context.Context) error {
		released.Add(1)
		return nil
	}}
}

// A payment that is settled after its answer gives the slot up, once, whoever settles it; one that comes to nothing
// does not.
func TestSlots_GivenUpByWhoIsPaidLater(t *testing.T) {
	overLedgers(t, func(h *house) {
		elsewhere := h.front(h.settings, true) // takes the webhooks, and resolves too
		here := h.shop
		h.use(elsewhere)
		for method, want := range map[string]int64{"pm_card_3ds": 1, "pm_card_error": 0} {
			var released atomic.Int64
			buyer := "buyer-" + method
			hold := h.hold(buyer, 1)
			h.use(here)
			w := h.through(inside(buyer, &released), "POST", "/api/holds/"+hold+"/pay", `{"payment_method":"`+method+`"}`, "k", "")
			h.use(elsewhere)
			if w.Code != http.StatusAccepted {
				h.Fatalf("%s: %d %s", method, w.Code, w.Body)
			}
			if want == 0 {
				eventually(h.T, func() bool { return h.state(buyer, hold) == "active" })
				var declined answer
				eventually(h.T, func() bool { // the webhook may be settling it
					declined = h.pay(buyer, hold, "k2", "pm_card_declined")
					return declined.kind() != "payment-pending"
				})
				h.expect(declined, http.StatusPaymentRequired, "declined")
			} else {
				eventually(h.T, func() bool { return h.state(buyer, hold) == "sold" && released.Load() == 1 })
			}
			h.expect(h.pay(buyer, hold, "k", "pm_card_visa"), http.StatusUnprocessableEntity, "idempotency-key-reused")
			if got := released.Load(); got != want {
				h.Errorf("%s: given up %d times", method, got)
			}
		}
	}, withWebhooks)
}
