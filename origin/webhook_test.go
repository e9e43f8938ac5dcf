package origin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/origin"
	"foyer/origin/gateway/signature"
	"foyer/origin/gateway/stripe"
)

// hook is a webhook as the gateway sends it, about the one payment of a hold.
func (h *house) hook(id, kind, hold, status, extra string) string {
	h.Helper()
	list := h.charges(hold).body["list"].([]any)
	payment := list[len(list)-1].(map[string]any)
	prefix := ""
	if h.gateway.Name() == stripe.Provider {
		prefix = "foyer_"
	}
	return fmt.Sprintf(`{"id":%q,"object":"event","type":%q,%s"data":{"object":{"id":%q,"object":"payment_intent","amount":%v,`+
		`"status":%q,"latest_charge":%q,"metadata":{"%[8]sattempt":%[9]q,"%[8]shold":%[10]q}%[11]s}}}`, id, kind, `"api_version":"2031-01-01",`,
		payment["intent"], payment["amount"], status, payment["charge"], prefix, payment["attempt"], hold, extra)
}

func (h *house) deliver(body string) answer {
	h.Helper()
	return h.deliverSigned(body, signature.Sign([]byte(body), hookSecret, time.Now()))
}

func (h *house) deliverSigned(body, header string) answer {
	h.Helper()
	return h.ask("", "POST", "/webhooks/"+h.gateway.Name(), body, "Stripe-Signature", header)
}

// F6
func TestWebhook_BeforeTheAnswerTwiceAndOutOfOrder(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k", "pm_card_timeout"), http.StatusAccepted, "payment-pending")
		paid := h.hook("evt_1", "payment_intent.succeeded", hold, "succeeded", `,"brand_new":{"a":[1]}`)
		failed := h.hook("evt_0", "payment_intent.payment_failed", hold, "requires_payment_method",
			`,"last_payment_error":{"code":"card_declined","message":"an earlier try"}`)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { h.expect(h.deliver(paid), http.StatusOK, "") })
			all.Go(func() { h.expect(h.deliver(failed), http.StatusOK, "") })
		}
		all.Wait()
		if got := h.state("anna", hold); got != "sold" {
			h.Errorf("the hold is %s", got)
		}
		h.expect(h.deliver(h.hook("evt_2", "payment_intent.canceled", hold, "canceled", "")), http.StatusOK, "")
		h.expect(h.deliver(h.hook("evt_3", "payment_intent.something_new", hold, "resting", "")), http.StatusOK, "")
		h.expect(h.pay("anna", hold, "k", "pm_card_timeout"), http.StatusCreated, "")
		h.balanced()
	}, timeout(3*time.Second), withoutLoops)
}

func TestWebhook_ADeclineComesByWebhookFirst(t *testing.T) {
	overProviders(t, func(h *house) {
		h.loses("confirm", 1)
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k1", "pm_card_declined"), http.StatusAccepted, "payment-pending")
		failed := h.hook("evt_1", "payment_intent.payment_failed", hold, "requires_payment_method",
			`,"last_payment_error":{"code":"card_declined","message":"Your card was declined."}`)
		h.expect(h.deliver(failed), http.StatusOK, "")
		if got := h.state("anna", hold); got != "active" {
			h.Errorf("the hold is %s", got)
		}
		h.expect(h.pay("anna", hold, "k1", "pm_card_declined"), http.StatusPaymentRequired, "declined")
		h.expect(h.pay("anna", hold, "k2", "pm_card_visa"), http.StatusCreated, "")
		h.balanced()
	}, withoutLoops, wrapped(faults))
}

// F7
func TestWebhook_IsBelievedOnlyWhenSigned(t *testing.T) {
	overProviders(t, func(h *house) {
		body := `{"id":"evt_9","object":"event","type":"charge.updated","data":{"object":{"object":"charge","id":"ch_9"}}}`
		now := time.Now()
		right := signature.Sign([]byte(body), hookSecret, now)
		for header, status := range map[string]int{
			signature.Sign([]byte(body), "whsec_wrong", now):                    http.StatusBadRequest,
			signature.Sign([]byte(body), hookSecret, now.Add(-302*time.Second)): http.StatusBadRequest,
			signature.Sign([]byte(body), hookSecret, now.Add(time.Hour)):        http.StatusBadRequest, // and a busy machine takes its time
			signature.Sign([]byte(body+" "), hookSecret, now):                   http.StatusBadRequest,
			"": http.StatusBadRequest,
			strings.Replace(right, ",", ",v1=00,", 1):      http.StatusOK,
			signature.Sign([]byte(body), "whsec_old", now): http.StatusOK,
		} {
			if got := h.deliverSigned(body, header); got.status != status {
				h.Errorf("%.30q: %v", header, got)
			}
		}
		if got := h.ask("", "POST", "/webhooks/paypal", body, "Stripe-Signature", right); got.status != http.StatusNotFound {
			h.Errorf("another provider: %v", got)
		}
	})
}

func TestWebhook_OfNoPaymentOfOursIsKeptWithoutEffect(t *testing.T) {
	overProviders(t, func(h *house) {
		hold := h.hold("anna", 1)
		h.expect(h.pay("anna", hold, "k", "pm_card_3ds"), http.StatusAccepted, "payment-pending")
		about := h.hook("evt_1", "payment_intent.succeeded", hold, "succeeded", "")
		stranger := strings.NewReplacer(`attempt":"a_`, `attempt":"x_`, `"evt_1"`, `"evt_2"`).Replace(about)
		cheaper := strings.NewReplacer(`"amount":1200`, `"amount":12`, `"evt_1"`, `"evt_3"`).Replace(about)
		other := strings.NewReplacer(`"id":"pi_`, `"id":"pi_x`, `"evt_1"`, `"evt_4"`).Replace(about)
		for _, body := range []string{stranger, cheaper, other} {
			h.expect(h.deliver(body), http.StatusOK, "")
		}
		if got := h.state("anna", hold); got != "paying" {
			h.Errorf("the hold is %s", got)
		}
	}, withoutLoops)
}

// Paid, and there is no seat any more: the seat is tried again, else the money goes back, once.
func TestWebhook_PaidTooLateIsRefundedOnce(t *testing.T) {
	for _, left := range []int64{1, 0} {
		t.Run(fmt.Sprintf("%d left", left), func(t *testing.T) {
			overLedgers(t, func(h *house) {
				hold := h.hold("anna", 1)
				h.expect(h.pay("anna", hold, "k", "pm_card_timeout"), http.StatusAccepted, "payment-pending")
				paid := h.hook("evt_1", "payment_intent.succeeded", hold, "succeeded", "")
				attempt := h.charges(hold).body["list"].([]any)[0].(map[string]any)["attempt"].(string)
				// Somebody ended it by hand, against the rules.
				if _, err := h.ledger.Settle(h.Context(), origin.Settlement{Attempt: attempt, State: origin.AttemptCanceled}); err != nil {
					h.Fatal(err)
				}
				h.ask("anna", "DELETE", "/api/holds/"+hold, "")
				if left == 0 {
					h.hold("bert", 1)
				}
				for range 3 {
					h.expect(h.deliver(paid), http.StatusOK, "")
				}
				if got := h.charges(hold).number("refunds"); got != 1-left {
					h.Errorf("%d refunds", got)
				}
				want := map[int64]string{0: "released", 1: "sold"}[left]
				if got := h.state("anna", hold); got != want {
					h.Errorf("the hold is %s", got)
				}
				h.balanced()
			}, capacity(1), timeout(3*time.Second), withoutLoops)
		})
	}
}
