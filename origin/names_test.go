package origin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"foyer/origin"
)

// through makes one call through a gate.
func (h *house) through(caller origin.Caller, method, path, body, key, cookie string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	w := httptest.NewRecorder()
	h.shop.Handler().ServeHTTP(w, r.WithContext(origin.WithCaller(r.Context(), caller)))
	return w
}

// A visitor whom the gate knows only from the moment it lets him in gets the hold under that name, with and without a key.
func TestHold_BelongsToWhomTheGateHasJustLetIn(t *testing.T) {
	overLedgers(t, func(h *house) {
		for i, key := range []string{"", "k"} {
			asked := 0
			r := httptest.NewRequest("POST", "/api/events/final/holds", strings.NewReader(`{"quantity":1}`))
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			w := httptest.NewRecorder()
			h.gated("", false, true, &asked).ServeHTTP(w, r)
			if w.Code != http.StatusCreated || asked != 1 || w.Header().Get("Set-Cookie") != "" {
				h.Fatalf("%d: %d %s, asked %d times, cookie %q", i, w.Code, w.Body, asked, w.Header().Get("Set-Cookie"))
			}
			h.expect(h.ask("newcomer", "GET", w.Header().Get("Location"), ""), http.StatusOK, "")
		}
		again := h.ask("newcomer", "POST", "/api/events/final/holds", `{"quantity":1}`, "Idempotency-Key", "k")
		if again.header.Get("Idempotent-Replayed") != "true" {
			h.Errorf("the retry: %v", again)
		}
	})
}

// What somebody got under the shop's own cookie, while the gate let everybody through, stays his when the gate gives him a name.
func TestShop_KnowsABuyerByBothHisNames(t *testing.T) {
	overLedgers(t, func(h *house) {
		open := origin.Caller{Gated: true, Slot: true}
		made := h.through(open, "POST", "/api/events/final/holds", `{"quantity":1}`, "", "")
		cookie, _, _ := strings.Cut(made.Header().Get("Set-Cookie"), ";")
		path := made.Header().Get("Location")
		kept := h.through(open, "POST", "/api/events/final/holds", `{"quantity":1}`, "", cookie).Header().Get("Location")
		named, other := origin.Caller{Buyer: "v1", Gated: true, Slot: true}, origin.Caller{Buyer: "v2", Gated: true, Slot: true}
		for _, step := range []struct {
			name, method, path, body, cookie string
			caller                           origin.Caller
			status                           int
		}{
			{"another reads", "GET", path, "", "", other, 404},
			{"without the cookie", "GET", path, "", "", named, 404},
			{"he reads", "GET", path, "", cookie, named, 200},
			{"another pays", "POST", path + "/pay", `{"payment_method":"pm_card_visa"}`, "", other, 404},
			{"he pays", "POST", path + "/pay", `{"payment_method":"pm_card_visa"}`, cookie, named, 201},
			{"again", "POST", path + "/pay", `{"payment_method":"pm_card_visa"}`, cookie, named, 201},
			{"he gives back", "DELETE", kept, "", cookie, named, 204},
		} {
			w := h.through(step.caller, step.method, step.path, step.body, "k", step.cookie)
			if w.Code != step.status {
				h.Errorf("%s: %d %s", step.name, w.Code, w.Body)
			}
			if order := w.Header().Get("Location"); step.status == 201 {
				if got := h.through(named, "GET", order, "", "", cookie); got.Code != http.StatusOK {
					h.Errorf("the receipt: %d %s", got.Code, got.Body)
				}
			}
		}
	})
}
