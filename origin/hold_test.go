package origin_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

func TestHold_IsMadeReadAndGivenBack(t *testing.T) {
	overLedgers(t, func(h *house) {
		made := h.ask("anna", "POST", "/api/events/final/holds", `{"quantity":2}`)
		h.expect(made, http.StatusCreated, "")
		if made.text("event") != "final" || made.number("quantity") != 2 || made.text("state") != "active" ||
			made.number("amount") != 2400 || made.text("currency") != "eur" {
			h.Errorf("made %v", made)
		}
		path := "/api/holds/" + made.text("hold")
		if made.header.Get("Location") != path || made.header.Get("Foyer-Command") != "extend=360" {
			h.Errorf("headers %v", made.header)
		}
		expires, err := time.Parse(time.RFC3339, made.text("expires_at"))
		if left := time.Until(expires); err != nil || left < 4*time.Minute || left > 5*time.Minute+time.Second {
			h.Errorf("expires at %q", made.text("expires_at"))
		}
		if read := h.ask("anna", "GET", path, ""); read.raw != made.raw || read.status != http.StatusOK {
			h.Errorf("read %v, made %v", read, made)
		}
		for range 2 {
			if got := h.ask("anna", "DELETE", path, ""); got.status != http.StatusNoContent || got.raw != "" {
				h.Errorf("given back: %v", got)
			}
		}
		if got := h.state("anna", made.text("hold")); got != "released" {
			h.Errorf("then it is %s", got)
		}
		if got := h.ask("", "GET", "/api/events/final", ""); got.number("remaining") != 100 || got.number("held") != 0 {
			h.Errorf("the event: %v", got)
		}
		h.expect(h.pay("anna", made.text("hold"), "k", "pm_card_visa"), http.StatusGone, "hold-expired")
	})
}

// E2
func TestHold_NeverMoreThanThereAre(t *testing.T) {
	overLedgers(t, func(h *house) {
		var made, soldOut, negative atomic.Int64
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				switch got := h.ask(fmt.Sprintf("buyer %d", i), "POST", "/api/events/final/holds", `{"quantity":2}`); {
				case got.status == http.StatusCreated:
					made.Add(1)
				case got.kind() == "sold-out" && got.status == http.StatusConflict:
					soldOut.Add(1)
				}
			})
			all.Go(func() {
				if h.ask("", "GET", "/api/events/final", "").number("remaining") < 0 {
					negative.Add(1)
				}
			})
		}
		all.Wait()
		if made.Load() != 1 || soldOut.Load() != 9 || negative.Load() != 0 {
			h.Errorf("%d made, %d sold out, %d negative", made.Load(), soldOut.Load(), negative.Load())
		}
	}, capacity(2))
}

// E4
func TestHold_KeepsToTheLimitOfABuyer(t *testing.T) {
	overLedgers(t, func(h *house) {
		path := "/api/events/final/holds"
		for _, body := range []string{`{"quantity":5}`, `{"quantity":1000000000}`} {
			h.expect(h.ask("anna", "POST", path, body), http.StatusUnprocessableEntity, "limit-exceeded")
		}
		for _, body := range []string{`{"quantity":0}`, `{"quantity":-1}`, `{"quantity":9223372036854775808}`} {
			h.expect(h.ask("anna", "POST", path, body), http.StatusUnprocessableEntity, "invalid-quantity")
		}
		for _, body := range []string{`{"quantity":1.5}`, `{"quantity":"2"}`} {
			h.expect(h.ask("anna", "POST", path, body), http.StatusBadRequest, "bad-request")
		}
		if got := h.ask("", "GET", "/api/events/final", ""); got.number("held") != 0 {
			h.Errorf("held: %v", got)
		}
		h.expect(h.pay("anna", h.hold("anna", 2), "k", "pm_card_visa"), http.StatusCreated, "")
		h.hold("anna", 1)
		h.expect(h.ask("anna", "POST", path, `{"quantity":2}`), http.StatusUnprocessableEntity, "limit-exceeded")
		h.hold("anna", 1)
		h.hold("bert", 4)
		if got := h.ask("", "GET", "/api/events/final", ""); got.number("held") != 6 || got.number("sold") != 2 {
			h.Errorf("the event: %v", got)
		}
	})
}

func TestHold_WithAKeyIsOneHold(t *testing.T) {
	overLedgers(t, func(h *house) {
		holds := make([]string, 20)
		var all sync.WaitGroup
		for i := range holds {
			all.Go(func() {
				holds[i] = h.patiently(func() answer {
					return h.ask("anna", "POST", "/api/events/final/holds", `{"quantity":2}`, "Idempotency-Key", "k")
				}).text("hold")
			})
		}
		all.Wait()
		for _, hold := range holds {
			if hold != holds[0] || hold == "" {
				h.Errorf("holds %v", holds)
				break
			}
		}
		if got := h.ask("", "GET", "/api/events/final", ""); got.number("held") != 2 {
			h.Errorf("held: %v", got)
		}
	})
}

// E5
func TestHold_ExpiredUnitsAreSoldAgainOnce(t *testing.T) {
	overLedgers(t, func(h *house) {
		h.front(h.settings, true) // a second reaper
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { h.hold(fmt.Sprintf("buyer %d", i), 1) })
		}
		all.Wait()
		eventually(h.T, func() bool { return h.ask("", "GET", "/api/events/final", "").number("remaining") == 100 })
		h.balanced()
	}, ttl(2*time.Second))
}

// E6: the buyer gives the hold back, pays it, and it expires, all at once.
func TestHold_EndsOnce(t *testing.T) {
	overLedgers(t, func(h *house) {
		for round := range 30 {
			buyer := fmt.Sprintf("buyer %d", round)
			hold := h.hold(buyer, 1)
			var given, paid answer
			var both sync.WaitGroup
			both.Go(func() { given = h.ask(buyer, "DELETE", "/api/holds/"+hold, "") })
			both.Go(func() { paid = h.pay(buyer, hold, "k", "pm_card_visa") })
			both.Wait()
			if (given.status == http.StatusNoContent) == (paid.status == http.StatusCreated) {
				h.Errorf("round %d: given back %v, paid %v", round, given, paid)
			}
		}
		h.balanced()
	})
}

func TestHold_SoldOutTellsTheGateWhatIsLeft(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		full := h.ask("bert", "POST", "/api/events/final/holds", `{"quantity":1}`)
		h.expect(full, http.StatusConflict, "sold-out")
		if got := full.header.Get("Foyer-Command"); got != "stock=1" { // held only: it may come back
			h.Errorf("while it is held: %q", got)
		}
		paid := h.pay("anna", hold, "k", "pm_card_visa")
		if got := paid.header.Values("Foyer-Command"); len(got) != 2 || got[0] != "release" || got[1] != "stock=0" {
			h.Errorf("when it is sold: %q", got)
		}
	}, capacity(1))
}

// A gate in front of one of several events hears of that one, also of a capacity that is raised when all is sold.
func TestShop_TellsWhatIsLeft(t *testing.T) {
	var mu sync.Mutex
	var told map[string]int64
	left := func(event string) int64 {
		mu.Lock()
		defer mu.Unlock()
		if n, known := told[event]; known {
			return n
		}
		return -1
	}
	overOne(t, func(h *house) {
		other := origin.Event{ID: "other", Name: "Other", Capacity: 7, Amount: 1, Currency: "eur", MaxPerBuyer: 4}
		if _, err := h.ledger.PutEvent(h.Context(), other); err != nil {
			h.Fatal(err)
		}
		paid := h.pay("anna", h.hold("anna", 1), "k", "pm_card_visa")
		if got := paid.header.Values("Foyer-Command"); len(got) != 1 || got[0] != "release" {
			h.Errorf("commands %q", got)
		}
		eventually(h.T, func() bool { return left(finalEvent) == 0 && left("other") == 7 })
		h.askAt(h.shop.admin, "", "PATCH", "/api/events/final", `{"capacity":3}`)
		eventually(h.T, func() bool { return left(finalEvent) == 2 })
	}, capacity(1), func(p *plan) {
		p.settings.OnLeft = func(all map[string]int64) {
			mu.Lock()
			defer mu.Unlock()
			told = all
		}
	})
}
