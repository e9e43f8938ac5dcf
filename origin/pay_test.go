package origin_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"foyer/origin"
)

func TestPay_MakesOneOrder(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 2)
		paid := h.pay("anna", hold, "k1", "pm_card_visa")
		h.expect(paid, http.StatusCreated, "")
		if paid.text("state") != "paid" || paid.text("hold") != hold || paid.number("amount") != 2400 ||
			paid.number("quantity") != 2 || paid.text("charge") == "" || paid.text("currency") != "eur" {
			h.Errorf("paid %v", paid)
		}
		if got := paid.header.Get("Foyer-Command"); got != "release" {
			h.Errorf("commands %q", paid.header.Values("Foyer-Command"))
		}
		read := h.ask("anna", "GET", "/api/orders/"+paid.text("order"), "")
		if read.raw != paid.raw || read.status != http.StatusOK {
			h.Errorf("read %v, paid %v", read, paid)
		}
		if got := h.ask("anna", "GET", "/api/holds/"+hold, ""); got.text("state") != "sold" || got.text("order") != paid.text("order") {
			h.Errorf("hold %v", got)
		}
		h.expect(h.ask("anna", "DELETE", "/api/holds/"+hold, ""), http.StatusConflict, "already-paid")
		h.balanced()
	})
}

// F1
func TestPay_DeliveredFiftyTimesIsOneOrderAndOneCharge(t *testing.T) {
	overProviders(t, func(h *house) {
		for _, deliveries := range []int{5, 50} {
			buyer := fmt.Sprintf("buyer %d", deliveries)
			hold := h.hold(buyer, 1)
			answers := make([]answer, deliveries)
			var all sync.WaitGroup
			for i := range deliveries {
				all.Go(func() { answers[i] = h.pay(buyer, hold, "k1", "pm_card_visa") })
			}
			all.Wait()
			want := h.pay(buyer, hold, "k1", "pm_card_visa")
			h.expect(want, http.StatusCreated, "")
			for i, got := range answers {
				if got.kind() == "request-in-progress" || got.kind() == "store-unavailable" { // on a busy machine: nothing is said
					continue
				}
				if got.status != http.StatusCreated || got.raw != want.raw {
					h.Errorf("delivery %d: %v, later: %v", i, got, want)
				}
			}
			h.askAt(h.simulator, "", "POST", fmt.Sprintf("/_simulator/redeliver?hold=%s&times=%d", hold, deliveries), "")
			if got := h.charges(hold).number("charges"); got != 1 {
				h.Errorf("%d charges", got)
			}
		}
		h.balanced()
	}, withWebhooks)
}

// F2
func TestPay_AChargeWhoseReplyIsLostIsFoundAgain(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		pending := h.pay("anna", hold, "k1", "pm_card_timeout")
		h.expect(pending, http.StatusAccepted, "payment-pending")
		if pending.header.Get("Location") != "/api/holds/"+hold {
			h.Errorf("location %q", pending.header.Get("Location"))
		}
		again := h.pay("anna", hold, "k1", "pm_card_timeout")
		h.expect(again, http.StatusCreated, "")
		other := h.pay("anna", hold, "k2", "pm_card_visa")
		h.expect(other, http.StatusConflict, "already-paid")
		if other.text("order") != again.text("order") {
			h.Errorf("another order: %v", other)
		}
		if got := h.charges(hold).number("charges"); got != 1 {
			h.Errorf("%d charges", got)
		}
		h.balanced()
	}, timeout(3*time.Second), withoutLoops)
}

func TestPay_TheResolverFindsAChargeWhoseReplyIsLost(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_timeout"), http.StatusAccepted, "payment-pending")
		eventually(h.T, func() bool { return h.state("anna", hold) == "sold" })
		h.expect(h.pay("anna", hold, "k1", "pm_card_timeout"), http.StatusCreated, "")
		h.balanced()
	}, timeout(3*time.Second))
}

// F3
func TestPay_AnotherCardAfterADecline(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_declined"), http.StatusPaymentRequired, "declined")
		if got := h.state("anna", hold); got != "active" {
			h.Errorf("after the decline the hold is %s", got)
		}
		h.expect(h.pay("anna", hold, "k2", "pm_card_visa"), http.StatusCreated, "")
		list := h.charges(hold)
		if list.number("charges") != 1 || len(list.body["list"].([]any)) != 2 {
			h.Errorf("at the gateway: %v", list)
		}
		again := h.pay("anna", hold, "k1", "pm_card_declined")
		h.expect(again, http.StatusPaymentRequired, "declined")
		if again.header.Get("Idempotent-Replayed") != "true" {
			h.Error("the decline was not replayed")
		}
		h.balanced()
	})
}

func TestPay_AnUnknownMethodIsDeclined(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_stolen"), http.StatusPaymentRequired, "declined")
		h.expect(h.pay("anna", hold, "k2", "pm_card_visa"), http.StatusCreated, "")
	})
}

// F4
func TestPay_AHoldThatExpiresInFlightIsStillPaid(t *testing.T) {
	overLedgers(t, func(h *house) {
		var hold string
		var got answer
		for try := range 10 { // on a busy machine a payment may begin only after its hold has ended
			hold = h.hold("anna", 1)
			if got = h.pay("anna", hold, fmt.Sprint("k", try), "pm_card_slow"); got.status != http.StatusGone {
				break
			}
		}
		h.expect(got, http.StatusCreated, "")
		if got := h.state("anna", hold); got != "sold" {
			h.Errorf("the hold is %s", got)
		}
		h.balanced()
	}, ttl(2*time.Second))
}

func TestPay_AnExpiredHoldIsGone(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		eventually(h.T, func() bool { return h.state("anna", hold) == "expired" })
		gone := h.pay("anna", hold, "k1", "pm_card_visa")
		h.expect(gone, http.StatusGone, "hold-expired")
		again := h.pay("anna", hold, "k1", "pm_card_visa")
		if again.raw != gone.raw || again.header.Get("Idempotent-Replayed") != "true" {
			h.Errorf("replayed as %v", again)
		}
		if got := h.charges(hold).number("charges"); got != 0 {
			h.Errorf("%d charges", got)
		}
	}, ttl(200*time.Millisecond))
}

// A failing provider charges nothing, and the buyer can pay with another card.
func TestPay_AFailingProviderGivesTheHoldBack(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_error"), http.StatusAccepted, "payment-pending")
		eventually(h.T, func() bool { return h.state("anna", hold) == "active" })
		h.expect(h.pay("anna", hold, "k2", "pm_card_visa"), http.StatusCreated, "")
		h.balanced()
	})
}

// The buyer's page is told what it needs for 3-D Secure, as often as it asks with its key, and nobody else is.
func TestPay_TellsTheBuyerWhatToActOn(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		pending := h.pay("anna", hold, "k1", "pm_card_3ds")
		h.expect(pending, http.StatusAccepted, "payment-pending")
		if got := pending.text("client_secret"); !strings.HasPrefix(got, "pi_") {
			h.Errorf("client secret %q in %v", got, pending)
		}
		if got := h.ask("anna", "GET", "/api/holds/"+hold, ""); strings.Contains(got.raw, "secret") {
			h.Errorf("hold %v", got)
		}
		h.expect(h.pay("bert", hold, "k1", "pm_card_3ds"), http.StatusNotFound, "no-such-hold")
		eventually(h.T, func() bool { return h.state("anna", hold) == "sold" })
		if paid := h.pay("anna", hold, "k1", "pm_card_3ds"); paid.status != http.StatusCreated || strings.Contains(paid.raw, "secret") {
			h.Errorf("paid %v", paid)
		}
	}, withWebhooks)
}

func TestPay_UnknownOutcomeStartsNoOther(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		for _, key := range []string{"k1", "k1", "k2"} {
			pending := h.pay("anna", hold, key, "pm_card_3ds")
			h.expect(pending, http.StatusAccepted, "payment-pending")
		}
		h.expect(h.ask("anna", "DELETE", "/api/holds/"+hold, ""), http.StatusConflict, "payment-in-progress")
		if got := h.charges(hold); len(got.body["list"].([]any)) != 1 {
			h.Errorf("at the gateway: %v", got)
		}
		h.gateway.(*absent).back.Store(true)
		eventually(h.T, func() bool { return h.state("anna", hold) == "sold" })
		h.expect(h.pay("anna", hold, "k1", "pm_card_3ds"), http.StatusCreated, "")
		h.balanced()
	}, timeout(3*time.Second), withWebhooks, wrapped(func(g origin.Gateway) origin.Gateway { return &absent{Gateway: g} }))
}

// A buyer who never answers his bank keeps the seat until the bound, and only the gateway's "canceled" frees it.
func TestPay_AnAbsentBuyerIsBounded(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_visa"), http.StatusAccepted, "payment-pending")
		eventually(h.T, func() bool { return h.state("anna", hold) == "active" })
		if h.gateway.(*absent).canceled.Load() == 0 {
			h.Error("freed without a cancel")
		}
		if got := h.charges(hold).number("charges"); got != 0 {
			h.Errorf("%d charges", got)
		}
	}, timeout(3*time.Second), settle(time.Second), wrapped(func(g origin.Gateway) origin.Gateway {
		return &absent{Gateway: g}
	}))
}

// absent is a gateway whose buyer never comes back from his bank.
type absent struct {
	origin.Gateway
	canceled atomic.Int64
	back     atomic.Bool // he is there after all
}

func (a *absent) Confirm(ctx context.Context, key, id string) (origin.Intent, error) {
	if a.back.Load() {
		return a.Gateway.Confirm(ctx, key, id)
	}
	return origin.Intent{ID: id, State: origin.IntentOpen}, nil
}

func (a *absent) Intent(ctx context.Context, id string) (origin.Intent, error) {
	intent, err := a.Gateway.Intent(ctx, id)
	if intent.State == origin.IntentNew && !a.back.Load() {
		intent.State = origin.IntentOpen
	}
	return intent, err
}

func (a *absent) Cancel(ctx context.Context, key, id string) (origin.Intent, error) {
	a.canceled.Add(1)
	return a.Gateway.Cancel(ctx, key, id)
}

// F8: while one payment is at its bank, a hundred others begin and end.
func TestPay_ASlowPaymentKeepsNobodyWaiting(t *testing.T) {
	overLedgers(t, func(h *house) {
		slow := h.hold("slow", 1)
		doomed, reached, bury := h.doomed("slow", slow, "k", "before confirm")
		eventually(h.T, reached.Load)
		var others errgroup.Group
		others.SetLimit(20)
		for i := range 100 {
			others.Go(func() error {
				buyer := fmt.Sprintf("buyer %d", i)
				hold, got := h.hold(buyer, 1), answer{}
				eventually(h.T, func() bool { // a busy machine says to come again
					got = h.pay(buyer, hold, "k", "pm_card_visa")
					return got.kind() != "store-unavailable"
				})
				h.expect(got, http.StatusCreated, "")
				return nil
			})
		}
		_ = others.Wait()
		if got := h.state("slow", slow); got != "paying" {
			h.Errorf("the slow one is %s", got)
		}
		bury()
		doomed.Wait()
		if got := h.state("slow", slow); got != "sold" {
			h.Errorf("in the end the slow one is %s", got)
		}
		h.balanced()
	}, capacity(101), withoutLoops, timeout(2*time.Minute))
}

// A client that hangs up does not leave the payment half done.
func TestPay_GoesOnWhenTheClientHangsUp(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		ctx, hangUp := context.WithCancel(h.Context())
		var gone sync.WaitGroup
		gone.Go(func() {
			_, _ = h.try(ctx, h.shop.url, "anna", "POST", "/api/holds/"+hold+"/pay",
				`{"payment_method":"pm_card_slow"}`, "Idempotency-Key", "k1")
		})
		eventually(h.T, func() bool { return h.state("anna", hold) == "paying" })
		hangUp()
		gone.Wait()
		eventually(h.T, func() bool { return h.state("anna", hold) == "sold" })
		again := h.pay("anna", hold, "k1", "pm_card_slow")
		h.expect(again, http.StatusCreated, "")
		h.balanced()
	}, withoutLoops)
}

func TestPay_IsForTheHoldsBuyerOnly(t *testing.T) {
	overLedgers(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("bert", hold, "k1", "pm_card_visa"), http.StatusNotFound, "no-such-hold")
		h.expect(h.pay("", hold, "k1", "pm_card_visa"), http.StatusNotFound, "no-such-hold")
		h.expect(h.ask("bert", "GET", "/api/holds/"+hold, ""), http.StatusNotFound, "no-such-hold")
		h.expect(h.ask("", "GET", "/api/holds/"+hold, ""), http.StatusNotFound, "no-such-hold")
		h.expect(h.ask("bert", "DELETE", "/api/holds/"+hold, ""), http.StatusNotFound, "no-such-hold")
		paid := h.pay("anna", hold, "k1", "pm_card_visa")
		h.expect(h.ask("bert", "GET", "/api/orders/"+paid.text("order"), ""), http.StatusNotFound, "no-such-order")
		h.expect(h.ask("", "GET", "/api/orders/"+paid.text("order"), ""), http.StatusNotFound, "no-such-order")
		h.expect(h.ask("anna", "GET", "/api/orders/"+strings.ToUpper(paid.text("order")), ""), http.StatusNotFound, "no-such-order")
	})
}
