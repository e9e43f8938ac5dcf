package origin_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// E6 over HTTP: payments with several keys, giving back and expiry meet in the same moments. Each hold ends once, and
// whoever was told so was told the truth.
func TestHold_EndsOnceHoweverItEnds(t *testing.T) {
	overLedgers(t, func(h *house) {
		elsewhere := h.front(h.settings, true) // a second process, with a reaper and a resolver of its own
		var storm sync.WaitGroup
		for round := range 40 {
			storm.Go(func() { h.endOnce(fmt.Sprintf("buyer-%d", round), elsewhere.url) })
		}
		storm.Wait()
		eventually(h.T, func() bool {
			audit, _, err := h.ledger.Audit(h.Context(), finalEvent)
			return err == nil && audit.Held == 0
		})
		h.balanced()
	}, ttl(300*time.Millisecond))
}

// endOnce has a hold paid and given back from all sides about when it expires.
func (h *house) endOnce(buyer, elsewhere string) {
	hold := h.hold(buyer, 1)
	<-time.After(250 * time.Millisecond)
	var mu sync.Mutex
	orders, released := map[string]bool{}, false
	var sides sync.WaitGroup
	for i := range 6 {
		base := []string{h.shop.url, elsewhere}[i%2]
		pause := time.Duration(rand.IntN(100)) * time.Millisecond
		sides.Go(func() {
			<-time.After(pause)
			if i == 0 {
				got := h.askAt(base, buyer, "DELETE", "/api/holds/"+hold, "")
				mu.Lock()
				defer mu.Unlock()
				released = got.status == http.StatusNoContent
				return
			}
			got := h.askAt(base, buyer, "POST", "/api/holds/"+hold+"/pay", `{"payment_method":"pm_card_visa"}`, "Idempotency-Key", fmt.Sprintf("k%d", i/2))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case got.status == http.StatusCreated, got.status == http.StatusConflict && got.kind() == "already-paid":
				orders[got.text("order")] = true
			case got.status == http.StatusGone, got.status == http.StatusAccepted:
			case got.kind() == "request-in-progress", got.kind() == "store-unavailable": // on a busy machine: nothing is said
			default:
				h.Errorf("pay: %v", got)
			}
		})
	}
	sides.Wait()
	eventually(h.T, func() bool { s := h.state(buyer, hold); return s != "paying" && s != "active" })
	end := h.ask(buyer, "GET", "/api/holds/"+hold, "")
	sold := end.text("state") == "sold"
	if len(orders) > 1 || len(orders) == 1 && !orders[end.text("order")] || sold && released {
		h.Errorf("orders %v, given back %v, and the hold ends as %v", orders, released, end)
	}
	if kept := h.charges(hold); sold != (kept.number("charges")-kept.number("refunds") == 1) {
		h.Errorf("%v for a hold that is %s", kept, end.text("state"))
	}
}
