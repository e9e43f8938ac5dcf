package origin_test

import (
	"net/http"
	"sync"
	"testing"
)

// F9
func TestRefund_IsDoneOnce(t *testing.T) {
	overProviders(t, func(h *house) {
		h.loses("refund", 2)
		paid := h.pay("anna", h.hold("anna", 2), "k", "pm_card_visa")
		path := "/api/orders/" + paid.text("order") + "/refund"
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				got := h.askAt(h.shop.admin, "", "POST", path, "")
				if got.status != http.StatusOK || got.number("refunded") != 2400 || got.text("state") != "refunded" ||
					got.text("order") != paid.text("order") {
					h.Errorf("refunded %v", got)
				}
			})
		}
		all.Wait()
		h.expect(h.askAt(h.shop.admin, "", "POST", path, ""), http.StatusOK, "")
		if got := h.charges(""); got.number("refunds") != 1 || got.number("refunded") != 2400 {
			h.Errorf("at the gateway: %v", got)
		}
		if got := h.ask("anna", "GET", "/api/orders/"+paid.text("order"), ""); got.text("state") != "refunded" {
			h.Errorf("the order: %v", got)
		}
		audit := h.askAt(h.shop.admin, "", "GET", "/api/events/final/ledger", "")
		if audit.number("charges_captured") != 1 || audit.number("charges_refunded") != 1 || audit.number("sold") != 2 {
			h.Errorf("the ledger: %v", audit)
		}
		h.expect(h.askAt(h.shop.admin, "", "POST", "/api/orders/o_none/refund", ""), http.StatusNotFound, "no-such-order")
	}, wrapped(faults))
}

func TestAdmin_ShowsTheLedger(t *testing.T) {
	overLedgers(t, func(h *house) {
		h.hold("anna", 2)
		h.pay("bert", h.hold("bert", 3), "k", "pm_card_visa")
		got := h.askAt(h.shop.admin, "", "GET", "/api/events/final/ledger", "")
		holds, _ := got.body["holds"].(map[string]any)
		stream, _ := got.body["stream"].(map[string]any)
		counter, given := got.body["counter"]
		if got.number("capacity") != 100 || got.number("sold") != 3 || got.number("held") != 2 || got.number("remaining") != 95 ||
			got.number("orders") != 1 || got.number("charges_captured") != 1 || got.number("charges_refunded") != 0 ||
			holds["active"] != 1.0 || holds["paying"] != 0.0 || holds["pending"] != 0.0 || stream["pending"] != 0.0 ||
			!given || counter != nil || got.number("drift") != 0 {
			h.Errorf("the ledger: %v", got)
		}
		h.expect(h.askAt(h.shop.admin, "", "GET", "/api/events/none/ledger", ""), http.StatusNotFound, "no-such-event")
	})
}

// E12
func TestAdmin_CapacityIsNeverBelowWhatIsTaken(t *testing.T) {
	overLedgers(t, func(h *house) {
		h.hold("anna", 4)
		h.hold("bert", 4)
		resize := func(body string) answer { return h.askAt(h.shop.admin, "", "PATCH", "/api/events/final", body) }
		h.expect(resize(`{"capacity":7}`), http.StatusConflict, "capacity-in-use")
		h.expect(resize(`{"capacity":8}`), http.StatusOK, "")
		h.expect(h.ask("carl", "POST", "/api/events/final/holds", `{"quantity":1}`), http.StatusConflict, "sold-out")
		if got := resize(`{"capacity":1200}`); got.status != http.StatusOK || got.number("capacity") != 1200 {
			h.Errorf("resized: %v", got)
		}
		h.hold("carl", 1)
		for _, body := range []string{`{"capacity":-1}`, `{"capacity":1.5}`, `{"capacity":"9"}`, `{}`, `{"capacity":9,"x":1}`} {
			h.expect(resize(body), http.StatusBadRequest, "bad-request")
		}
	})
}

func TestAdmin_ReconcilesNow(t *testing.T) {
	overLedgers(t, func(h *house) {
		got := h.askAt(h.shop.admin, "", "POST", "/api/reconcile", "")
		for _, name := range []string{"checked", "stranded_returned", "drift_before", "drift_after"} {
			if _, given := got.body[name]; !given || got.status != http.StatusOK {
				h.Errorf("%s is missing: %v", name, got)
			}
		}
	})
}
