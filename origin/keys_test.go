package origin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

// The lines of the idempotency table in the scenarios, in its order.

func TestKey_MissingOrMalformed(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		path, body := "/api/holds/"+hold+"/pay", `{"payment_method":"pm_card_visa"}`
		h.expect(h.ask("anna", "POST", path, body), http.StatusBadRequest, "idempotency-key-missing")
		h.expect(h.ask("anna", "POST", path, body, "Idempotency-Key", strings.Repeat("k", 256)),
			http.StatusBadRequest, "idempotency-key-invalid")
		h.expect(h.ask("anna", "POST", path, body, "Idempotency-Key", "a\tb"), http.StatusBadRequest, "idempotency-key-invalid")
		h.expect(h.ask("anna", "POST", path, body, "Idempotency-Key", "a", "Idempotency-Key", "b"),
			http.StatusBadRequest, "idempotency-key-invalid")
	})
}

func TestKey_IsNotRecordedForABodyWrongInForm(t *testing.T) {
	overLedgers(t, func(h *house) {
		path := "/api/events/final/holds"
		for _, body := range []string{`{"quantity":0}`, `{"quantity":"2"}`, `{"quantity":2,"x":1}`, strings.Repeat(" ", 70_000)} {
			if got := h.ask("anna", "POST", path, body, "Idempotency-Key", "k"); got.status/100 != 4 {
				h.Errorf("%.40q: %v", body, got)
			}
		}
		h.expect(h.ask("anna", "POST", path, `{"quantity":2}`, "Idempotency-Key", "k"), http.StatusCreated, "")
	})
}

func TestKey_ReplaysDeterminedAnswersToTheByte(t *testing.T) {
	overLedgers(t, func(h *house) {
		path := "/api/events/final/holds"
		replays := func(buyer, path, body string, status int, kind string) {
			first := h.ask(buyer, "POST", path, body, "Idempotency-Key", "k")
			h.expect(first, status, kind)
			for range 2 {
				again := h.ask(buyer, "POST", path, body, "Idempotency-Key", "k")
				if again.raw != first.raw || again.status != first.status || again.header.Get("Idempotent-Replayed") != "true" ||
					again.header.Get("Location") != first.header.Get("Location") ||
					again.header.Get("Content-Type") != first.header.Get("Content-Type") {
					h.Errorf("%v was replayed as %v", first, again)
				}
				if again.header.Get("Foyer-Command") != "" {
					h.Errorf("a replay commands %q", again.header.Get("Foyer-Command"))
				}
			}
		}
		replays("anna", path, `{"quantity":2}`, http.StatusCreated, "")
		replays("bert", path, `{"quantity":5}`, http.StatusUnprocessableEntity, "limit-exceeded")
		replays("carl", path, `{"quantity":4}`, http.StatusConflict, "sold-out")
		hold := h.hold("dora", 1)
		replays("dora", "/api/holds/"+hold+"/pay", `{"payment_method":"pm_card_declined"}`, http.StatusPaymentRequired, "declined")
		if got, _, _ := h.ledger.Event(h.Context(), finalEvent); got.Held != 3 {
			h.Errorf("%d held", got.Held)
		}
	}, capacity(5))
}

func TestKey_IgnoresHowTheBodyIsWritten(t *testing.T) {
	overLedgers(t, func(h *house) {
		path := "/api/events/final/holds"
		first := h.ask("anna", "POST", path, `{"quantity":2}`, "Idempotency-Key", "k")
		again := h.ask("anna", "POST", path, "{ \"quantity\" :\n 2 }", "Idempotency-Key", "k")
		if again.raw != first.raw {
			h.Errorf("%v was replayed as %v", first, again)
		}
	})
}

func TestKey_ReusedForAnother(t *testing.T) {
	overLedgers(t, func(h *house) {
		first, second := h.hold("anna", 1), h.hold("anna", 1)
		h.expect(h.pay("anna", first, "k", "pm_card_visa"), http.StatusCreated, "")
		h.expect(h.pay("anna", first, "k", "pm_card_declined"), http.StatusUnprocessableEntity, "idempotency-key-reused")
		h.expect(h.pay("anna", second, "k", "pm_card_visa"), http.StatusUnprocessableEntity, "idempotency-key-reused")
		path := "/api/events/final/holds"
		h.expect(h.ask("bert", "POST", path, `{"quantity":1}`, "Idempotency-Key", "k"), http.StatusCreated, "")
		h.expect(h.ask("bert", "POST", path, `{"quantity":2}`, "Idempotency-Key", "k"),
			http.StatusUnprocessableEntity, "idempotency-key-reused")
	})
}

func TestKey_ASecondRequestWaitsForTheFirst(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		answers := make([]answer, 2)
		var both sync.WaitGroup
		for i := range answers {
			both.Go(func() {
				answers[i] = h.patiently(func() answer { return h.pay("anna", hold, "k", "pm_card_visa") })
			})
		}
		both.Wait()
		if answers[0].status != http.StatusCreated || answers[0].raw != answers[1].raw {
			h.Errorf("answered %v and %v", answers[0], answers[1])
		}
	}, wrapped(func(g origin.Gateway) origin.Gateway {
		return &faulty{Gateway: g, before: func(ctx context.Context, call string) error {
			return pause(ctx, 300*time.Millisecond)
		}}
	}))
}

func TestKey_ASecondRequestWaitsForTwoSecondsAtMost(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		var first sync.WaitGroup
		first.Go(func() { h.expect(h.pay("anna", hold, "k", "pm_card_visa"), http.StatusCreated, "") })
		eventually(h.T, func() bool { return h.state("anna", hold) == "paying" })
		since := time.Now()
		second := h.pay("anna", hold, "k", "pm_card_visa")
		h.expect(second, http.StatusConflict, "request-in-progress")
		if took := time.Since(since); second.header.Get("Retry-After") != "1" || took < 1900*time.Millisecond {
			h.Errorf("after %v: %v", took, second)
		}
		h.expect(h.pay("anna", hold, "k", "pm_card_slow"), http.StatusUnprocessableEntity, "idempotency-key-reused")
		first.Wait()
		h.expect(h.pay("anna", hold, "k", "pm_card_visa"), http.StatusCreated, "")
		if got := h.charges(hold).number("charges"); got != 1 {
			h.Errorf("%d charges", got)
		}
	}, wrapped(func(g origin.Gateway) origin.Gateway {
		return &faulty{Gateway: g, before: func(ctx context.Context, call string) error {
			if call == "confirm" {
				return pause(ctx, 4500*time.Millisecond) // not as long as a claim lasts
			}
			return nil
		}}
	}))
}

// TestKey_IsTakenOverFromADeadProcess kills processes that run a payment before and after each call to the gateway.
func TestKey_IsTakenOverFromADeadProcess(t *testing.T) {
	overLedgers(t, func(h *house) {
		var all sync.WaitGroup
		for _, point := range []string{"before create", "after create", "before confirm", "after confirm"} {
			hold := h.hold(point, 1)
			doomed, reached, bury := h.doomed(point, hold, "k", point)
			all.Go(func() {
				eventually(h.T, reached.Load)
				var got answer
				eventually(h.T, func() bool {
					got = h.pay(point, hold, "k", "pm_card_visa")
					return got.kind() != "request-in-progress"
				})
				h.expect(got, http.StatusCreated, "")
				if charges := h.charges(hold).number("charges"); charges != 1 {
					h.Errorf("%s: %d charges", point, charges)
				}
				bury()
				doomed.Wait()
			})
		}
		all.Wait()
		h.balanced()
	})
}

// Nobody repeats the request: the resolver ends what a dead process left. Where nothing can have been charged the hold
// is payable again; else the payment comes through.
func TestResolver_EndsWhatADeadProcessLeft(t *testing.T) {
	overLedgers(t, func(h *house) {
		var all sync.WaitGroup
		for point, state := range map[string]string{
			"before create": "active", "after create": "active", "before confirm": "sold", "after confirm": "sold",
		} {
			hold := h.hold(point, 1)
			doomed, reached, bury := h.doomed(point, hold, "k", point)
			all.Go(func() {
				eventually(h.T, reached.Load)
				eventually(h.T, func() bool { return h.state(point, hold) == state })
				bury() // it wakes up late, and must not charge what was ended
				doomed.Wait()
				h.expect(h.pay(point, hold, "k2", "pm_card_visa"), map[string]int{"active": 201, "sold": 409}[state],
					map[string]string{"sold": "already-paid"}[state])
				if charges := h.charges(hold).number("charges"); charges != 1 {
					h.Errorf("%s: %d charges", point, charges)
				}
			})
		}
		all.Wait()
		h.balanced()
	}, timeout(3*time.Second))
}

func TestKey_OurOwnFailureIsNotKept(t *testing.T) {
	overLedgers(t, func(h *house) {
		broken := &breaking{Ledger: h.ledger}
		settings := h.settings
		settings.Ledger = broken
		shop := h.front(settings, false)
		hold := h.hold("anna", 1)
		ask := func() answer {
			return h.askAt(shop.url, "anna", "POST", "/api/holds/"+hold+"/pay", `{"payment_method":"pm_card_visa"}`, "Idempotency-Key", "k")
		}
		broken.starts.Store(true)
		h.expect(ask(), http.StatusServiceUnavailable, "store-unavailable")
		broken.starts.Store(false)
		got := ask()
		h.expect(got, http.StatusCreated, "")
		if got.header.Get("Idempotent-Replayed") != "" {
			h.Error("a first answer says that it is a replay")
		}
	})
}

// breaking is a ledger that can be made to fail.
type breaking struct {
	origin.Ledger
	starts atomic.Bool
}

func (b *breaking) StartPayment(ctx context.Context, start origin.PaymentStart) (origin.PaymentReply, error) {
	if b.starts.Load() {
		return origin.PaymentReply{}, errLost
	}
	return b.Ledger.StartPayment(ctx, start)
}

func TestKey_IsEachBuyersOwn(t *testing.T) {
	overLedgers(t, func(h *house) {
		anna, bert := h.hold("anna", 1), h.hold("bert", 1)
		one, two := h.pay("anna", anna, "k", "pm_card_visa"), h.pay("bert", bert, "k", "pm_card_visa")
		h.expect(one, http.StatusCreated, "")
		h.expect(two, http.StatusCreated, "")
		if one.text("order") == two.text("order") {
			h.Error("one order for two buyers")
		}
		h.balanced()
	})
}

// An answer that begins nothing says nothing of what the key is for.
func TestKey_IsFreeAfterAnAnswerThatBeganNothing(t *testing.T) {
	overLedgers(t, func(h *house) {
		h.expect(h.ask("anna", "POST", "/api/events/none/holds", `{"quantity":1}`, "Idempotency-Key", "k"), http.StatusNotFound, "no-such-event")
		made := h.ask("anna", "POST", "/api/events/final/holds", `{"quantity":1}`, "Idempotency-Key", "k")
		h.expect(made, http.StatusCreated, "")
		h.expect(h.pay("anna", "h_none", "k", "pm_card_visa"), http.StatusNotFound, "no-such-hold")

		asked := 0
		r := httptest.NewRequest("POST", "/api/holds/"+h.hold("anna", 1)+"/pay", strings.NewReader(`{"payment_method":"pm_card_visa"}`))
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		h.gated("anna", false, false, &asked).ServeHTTP(w, r)
		if w.Code != http.StatusTooManyRequests || asked != 1 {
			h.Errorf("a payment without a slot: status %d, asked %d times", w.Code, asked)
		}
		paid := h.pay("anna", made.text("hold"), "k", "pm_card_visa")
		h.expect(paid, http.StatusCreated, "")
		if got := paid.header.Get("Location"); got != "/api/orders/"+paid.text("order") {
			h.Errorf("location %q", got)
		}
		h.expect(h.pay("anna", h.hold("anna", 1), "k", "pm_card_visa"), http.StatusUnprocessableEntity, "idempotency-key-reused")
	})
}

// While an attempt is unknown, another key begins nothing, but the attempt's own stays bound.
func TestKey_IsFreeWhereAnotherAttemptIsUnknown(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold, next := h.hold("anna", 1), h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_3ds"), http.StatusAccepted, "payment-pending")
		h.expect(h.pay("anna", hold, "k2", "pm_card_visa"), http.StatusAccepted, "payment-pending")
		h.expect(h.pay("anna", next, "k1", "pm_card_3ds"), http.StatusUnprocessableEntity, "idempotency-key-reused")
		h.expect(h.pay("anna", next, "k2", "pm_card_visa"), http.StatusCreated, "")
	}, withoutLoops)
}
