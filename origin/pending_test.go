package origin_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"foyer/origin"
	"foyer/store/strategy"
)

// late is a strategy whose ledger row comes later, when write is called.
type late struct {
	origin.Strategy
	mu      sync.Mutex
	waiting map[string]origin.HoldRequest
}

func (l *late) Hold(_ context.Context, request origin.HoldRequest) (origin.HoldReply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[request.ID] = request
	return origin.HoldReply{Hold: pending(request)}, nil
}

func (l *late) Pending(_ context.Context, id string) (origin.Hold, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	request, found := l.waiting[id]
	return pending(request), found, nil
}

// take hands over what is to be written.
func (l *late) take(id string) origin.HoldRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	request := l.waiting[id]
	delete(l.waiting, id)
	return request
}

func pending(request origin.HoldRequest) origin.Hold {
	return origin.Hold{
		ID: request.ID, Event: request.Event, Buyer: request.Buyer, Quantity: request.Quantity, State: origin.HoldPending,
	}
}

func TestHold_IsPendingUntilTheLedgerHasIt(t *testing.T) {
	overLedgers(t, func(h *house) {
		slow := &late{Strategy: h.settings.Strategy, waiting: map[string]origin.HoldRequest{}}
		settings := h.settings
		settings.Strategy = slow
		h.use(h.front(settings, false))
		make := func(key string) string {
			made := h.ask("anna", "POST", "/api/events/final/holds", `{"quantity":2}`, "Idempotency-Key", key)
			if made.status != http.StatusAccepted || made.text("state") != "pending" ||
				made.header.Get("Location") != "/api/holds/"+made.text("hold") {
				h.Errorf("made %v", made)
			}
			return made.text("hold")
		}
		hold := make("k1")
		if again := make("k1"); again != hold {
			h.Errorf("the same key is another hold: %s, %s", hold, again)
		}
		if got := h.state("anna", hold); got != "pending" {
			h.Errorf("read as %s", got)
		}
		h.expect(h.ask("bert", "GET", "/api/holds/"+hold, ""), http.StatusNotFound, "no-such-hold")
		h.expect(h.pay("anna", hold, "p1", "pm_card_visa"), http.StatusConflict, "request-in-progress")
		h.expect(h.ask("anna", "DELETE", "/api/holds/"+hold, ""), http.StatusConflict, "request-in-progress")
		if _, err := slow.Strategy.Hold(h.Context(), slow.take(hold)); err != nil {
			h.Fatal(err)
		}
		if got := h.state("anna", hold); got != "active" {
			h.Errorf("then read as %s", got)
		}
		h.expect(h.pay("anna", hold, "p1", "pm_card_visa"), http.StatusCreated, "")

		voided := make("k2")
		requests := []origin.HoldRequest{slow.take(voided)}
		if _, err := h.ledger.(strategy.Ledger).Void(h.Context(), finalEvent, requests, origin.SoldOut); err != nil {
			h.Fatal(err)
		}
		if got := h.ask("anna", "GET", "/api/holds/"+voided, ""); got.status != http.StatusOK || got.text("state") != "refused" ||
			got.text("reason") != "sold-out" {
			h.Errorf("refused: %v", got)
		}
		h.balanced()
	}, withoutLoops)
}

// A hold whose process died, and that was voided, was never decided on: the same key gets another one.
func TestHold_AVoidedOneIsMadeAnew(t *testing.T) {
	overLedgers(t, func(h *house) {
		slow := &late{Strategy: h.settings.Strategy, waiting: map[string]origin.HoldRequest{}}
		settings := h.settings
		settings.Strategy = slow
		other := h.front(settings, false)
		ask := func(base string) answer {
			return h.askAt(base, "anna", "POST", "/api/events/final/holds", `{"quantity":2}`, "Idempotency-Key", "k")
		}
		hold := ask(other.url).text("hold")
		requests := []origin.HoldRequest{slow.take(hold)}
		if _, err := h.ledger.(strategy.Ledger).Void(h.Context(), finalEvent, requests, origin.SoldOut); err != nil {
			h.Fatal(err)
		}
		again := ask(h.shop.url)
		h.expect(again, http.StatusCreated, "")
		if again.text("hold") == hold || h.state("anna", hold) != "refused" {
			h.Errorf("voided %s, again %v", hold, again)
		}
		if replay := ask(h.shop.url); replay.raw != again.raw {
			h.Errorf("replayed as %v", replay)
		}
		h.balanced()
	}, withoutLoops)
}
