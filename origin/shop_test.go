package origin_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"foyer/origin"
)

func TestShop_ListsWhatIsOnSale(t *testing.T) {
	overLedgers(t, func(h *house) {
		h.hold("anna", 3)
		one := h.ask("", "GET", "/api/events/final", "")
		price, _ := one.body["price"].(map[string]any)
		if one.status != http.StatusOK || one.text("event") != "final" || one.text("name") != "Final" || price["amount"] != 1200.0 ||
			price["currency"] != "eur" || one.number("capacity") != 100 || one.number("held") != 3 || one.number("sold") != 0 ||
			one.number("remaining") != 97 || one.number("max_per_buyer") != 4 || one.text("as_of") == "" {
			h.Errorf("the event: %v", one)
		}
		if list := h.ask("", "GET", "/api/events", ""); !strings.HasPrefix(list.raw, `[{"event":"final"`) {
			h.Errorf("the list: %v", list)
		}
		h.expect(h.ask("", "GET", "/api/events/none", ""), http.StatusNotFound, "no-such-event")
		h.expect(h.ask("anna", "POST", "/api/events/none/holds", `{"quantity":1}`), http.StatusNotFound, "no-such-event")
		h.expect(h.ask("anna", "GET", "/nothing", ""), http.StatusNotFound, "not-found")
	})
}

func TestShop_NamesTheMethodsOfAPath(t *testing.T) {
	overLedgers(t, func(h *house) {
		for path, allow := range map[string]string{
			"/api/events": "GET, HEAD", "/api/events/final": "GET, HEAD", "/api/events/final/holds": "POST",
			"/api/holds/h_1": "DELETE, GET, HEAD", "/api/holds/h_1/pay": "POST", "/api/orders/o_1": "GET, HEAD",
			"/webhooks/simulator": "POST", "/events/final": "GET, HEAD",
		} {
			got := h.ask("anna", "PUT", path, "{}")
			h.expect(got, http.StatusMethodNotAllowed, "method-not-allowed")
			if got.header.Get("Allow") != allow {
				h.Errorf("%s allows %q", path, got.header.Get("Allow"))
			}
		}
	})
}

func TestShop_ShowsABrowserThePage(t *testing.T) {
	overLedgers(t, func(h *house) {
		page := h.ask("", "GET", "/events/final", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		policy := page.header.Get("Content-Security-Policy")
		_, nonce, _ := strings.Cut(policy, "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		if page.status != http.StatusOK || !strings.Contains(page.header.Get("Content-Type"), "text/html") || nonce == "" ||
			!strings.Contains(page.raw, `<script nonce="`+nonce+`"`) || !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(page.raw, "12.00 EUR") || page.header.Get("Set-Cookie") == "" {
			h.Errorf("the page: %v %v", page.header, page)
		}
		if got := h.ask("", "GET", "/events/final", "", "Accept", "application/json"); got.text("event") != "final" {
			h.Errorf("as JSON: %v", got)
		}
		if got := h.ask("", "GET", "/", "", "Sec-Fetch-Mode", "navigate"); !strings.Contains(got.raw, `href="/events/final"`) {
			h.Errorf("the list: %v", got)
		}
	})
}

func TestShop_ShowsABrowserTheReceipt(t *testing.T) {
	overLedgers(t, func(h *house) {
		paid := h.pay("anna", h.hold("anna", 2), "k", "pm_card_visa")
		path, accept := paid.header.Get("Location"), "text/html,*/*;q=0.8"
		if got := h.ask("anna", "GET", path, "", "Accept", accept); got.status != http.StatusOK || !strings.Contains(got.raw, "24.00 EUR") ||
			!strings.Contains(got.raw, paid.text("order")) {
			h.Errorf("the receipt: %v", got)
		}
		for _, path := range []string{path, "/events/none"} {
			if got := h.ask("bert", "GET", path, "", "Accept", accept); got.status != http.StatusNotFound || strings.Contains(got.raw, paid.text("order")) ||
				!strings.Contains(got.header.Get("Content-Type"), "text/html") {
				h.Errorf("%s to another: %v", path, got)
			}
		}
		h.expect(h.ask("bert", "GET", path, ""), http.StatusNotFound, "no-such-order")
	})
}

func TestShop_KnowsABuyerByItsCookie(t *testing.T) {
	overLedgers(t, func(h *house) {
		made := h.ask("", "POST", "/api/events/final/holds", `{"quantity":1}`)
		h.expect(made, http.StatusCreated, "")
		cookie, _, _ := strings.Cut(made.header.Get("Set-Cookie"), ";")
		path := "/api/holds/" + made.text("hold")
		h.expect(h.ask("", "GET", path, "", "Cookie", cookie), http.StatusOK, "")
		h.expect(h.ask("", "GET", path, ""), http.StatusNotFound, "no-such-hold")
		h.expect(h.ask("", "GET", path, "", "Cookie", cookie+"0"), http.StatusNotFound, "no-such-hold")
	})
}

func TestShop_RefusesAnotherSite(t *testing.T) {
	overLedgers(t, func(h *house) {
		got := h.ask("anna", "POST", "/api/events/final/holds", `{"quantity":1}`, "Sec-Fetch-Site", "cross-site")
		h.expect(got, http.StatusForbidden, "cross-origin")
	})
}

// gated is a shop behind a gate that gives a slot, or does not.
func (h *house) gated(buyer string, slot, gives bool, asked *int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := origin.Caller{Buyer: buyer, Gated: true, Slot: slot}
		caller.NeedSlot = func(w http.ResponseWriter, _ *http.Request) (origin.Caller, bool) {
			*asked++
			if !gives {
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return origin.Caller{Buyer: cmp.Or(buyer, "newcomer"), Gated: true, Slot: gives}, gives
		}
		h.shop.Handler().ServeHTTP(w, r.WithContext(origin.WithCaller(r.Context(), caller)))
	})
}

// E13: a slot is needed to make a hold and to start a payment, and for nothing else.
func TestShop_NeedsASlotOnlyToBegin(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		steps := []struct {
			name, method, path, body string
			slot, gives              bool
			asked, status            int
		}{
			{"a hold without a slot", "POST", "/api/events/final/holds", `{"quantity":1}`, false, false, 1, 429},
			{"a hold with a slot that is given", "POST", "/api/events/final/holds", `{"quantity":1}`, false, true, 1, 201},
			{"a hold inside", "POST", "/api/events/final/holds", `{"quantity":1}`, true, false, 0, 201},
			{"reading", "GET", "/api/holds/" + hold, "", false, false, 0, 200},
			{"a payment without a slot", "POST", "/api/holds/" + hold + "/pay", `{"payment_method":"pm_card_visa"}`, false, false, 1, 429},
			{"the payment inside", "POST", "/api/holds/" + hold + "/pay", `{"payment_method":"pm_card_visa"}`, true, false, 0, 201},
			{"its replay", "POST", "/api/holds/" + hold + "/pay", `{"payment_method":"pm_card_visa"}`, false, false, 0, 201},
			{"giving back", "DELETE", "/api/holds/" + hold, "", false, false, 0, 409},
			{"a stranger's hold", "POST", "/api/holds/h_none/pay", `{"payment_method":"pm_card_visa"}`, false, false, 0, 404},
		}
		for i, step := range steps {
			asked := 0
			r := httptest.NewRequest(step.method, step.path, strings.NewReader(step.body))
			if strings.HasSuffix(step.path, "/pay") {
				r.Header.Set("Idempotency-Key", "k")
				if step.status == 404 {
					r.Header.Set("Idempotency-Key", "another")
				}
			}
			w := httptest.NewRecorder()
			h.gated("anna", step.slot, step.gives, &asked).ServeHTTP(w, r)
			if w.Code != step.status || asked != step.asked {
				h.Errorf("%d %s: status %d, asked for a slot %d times", i, step.name, w.Code, asked)
			}
		}
	})
}

func TestShop_CountsWhatItDoes(t *testing.T) {
	registry := prometheus.NewRegistry()
	overOne(t, func(h *house) {
		hold := h.hold("anna", 2)
		h.pay("anna", hold, "k1", "pm_card_declined")
		h.pay("anna", hold, "k2", "pm_card_visa")
		h.pay("anna", hold, "k2", "pm_card_visa")
		families, err := registry.Gather()
		if err != nil {
			h.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				name := family.GetName()
				if name == "foyer_payments_total" {
					name += " " + metric.GetLabel()[0].GetValue()
				}
				got[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"foyer_event_capacity": 100, "foyer_event_sold": 2, "foyer_event_held": 0, "foyer_event_remaining": 98,
			"foyer_payments_total declined": 1, "foyer_payments_total paid": 1, "foyer_holds_expired_total": 0,
		} {
			if got[name] != want {
				h.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
	}, func(p *plan) { p.settings.Metrics = registry })
}

func TestNew_RefusesHalfAShop(t *testing.T) {
	if _, err := origin.New(origin.Settings{}); err == nil {
		t.Fatal("it opened")
	}
}
