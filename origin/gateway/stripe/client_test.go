package stripe

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"foyer/origin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secretText stands in every answer where Stripe has secrets.
const secretText = "pi_1_secret_SENTINEL"

// script answers the calls of a client one after the other, as Stripe did or might.
type script struct {
	t       *testing.T
	answers []scripted
	keys    []string // of the calls that came
}

type scripted struct {
	status   int
	body     string
	replayed bool
}

// ServeHTTP gives the next answer.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	if len(s.keys) > len(s.answers) {
		s.t.Errorf("call %d is one too many: %s %s", len(s.keys), r.Method, r.URL.Path)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := s.answers[len(s.keys)-1]
	if next.replayed {
		w.Header().Set(replayedHeader, "true")
	}
	w.Header().Set("Request-Id", "req_1")
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

// connect makes a client that is closed with the test.
func connect(t *testing.T, settings Settings) *Client {
	c := NewClient(settings)
	t.Cleanup(c.Close)
	return c
}

// play connects a client to a script.
func play(t *testing.T, answers ...scripted) (*Client, *script) {
	s := &script{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c := connect(t, Settings{SecretKey: "sk_test_SENTINEL", APIBase: server.URL, Timeout: 5 * time.Second})
	c.freshKey = func(key string) string { return key + ":again" }
	return c, s
}

// shown is a PaymentIntent in a status.
func shown(status, more string) string {
	return fmt.Sprintf(`{"id":"pi_1","object":"payment_intent","amount":500,"currency":"eur","status":%q,"client_secret":%q,`+
		`"metadata":{"foyer_attempt":"a1","foyer_hold":"h1"}%s}`, status, secretText, more)
}

// refusing is an error that may show one.
func refusing(kind, code, more string) string {
	return fmt.Sprintf(`{"error":{"type":%q,"code":%q,"message":"No: sk_test_SENTINEL"%s}}`, kind, code, more)
}

func TestCall_WithoutAClearAnswerIsUnknownAndSentOnce(t *testing.T) {
	for name, answer := range map[string]scripted{
		"an error of Stripe's":       {500, refusing("api_error", "", ""), false},
		"an error that shows it":     {500, refusing("api_error", "", `,"payment_intent":`+shown("requires_confirmation", "")), false},
		"a page of a proxy":          {502, "<html>" + secretText + "</html>", false},
		"too many":                   {429, refusing("invalid_request_error", "rate_limit", ""), false},
		"locked":                     {429, refusing("invalid_request_error", "lock_timeout", ""), false},
		"a key in use":               {409, refusing("idempotency_error", "idempotency_key_in_use", ""), false},
		"a key used otherwise":       {400, refusing("idempotency_error", "", ""), false},
		"not authorized":             {401, refusing("invalid_request_error", "", ""), false},
		"not permitted":              {403, refusing("invalid_request_error", "", ""), false},
		"an error without a payment": {402, refusing("card_error", "card_declined", ""), false},
		"no such payment":            {404, refusing("invalid_request_error", "resource_missing", `,"param":"intent"`), false},
		"half an answer":             {200, shown("succeeded", "")[:40], false},
		"nothing":                    {200, "", false},
		"another object":             {200, `{"object":"list","data":[],"note":"` + secretText + `"}`, false},
		"a redirect":                 {307, "", false},
		"an error that is none":      {400, `{"hello":"` + secretText + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, answer)
			intent, err := c.Confirm(t.Context(), "a1:confirm", "pi_1")
			if err == nil {
				t.Fatalf("got %+v", intent)
			}
			if strings.Contains(err.Error(), "SENTINEL") {
				t.Errorf("the error holds a secret: %v", err)
			}
			if len(s.keys) != 1 {
				t.Errorf("%d calls", len(s.keys))
			}
		})
	}
}

func TestCall_ThatTakesTooLongIsUnknown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	c := connect(t, Settings{SecretKey: "sk_test_1", APIBase: server.URL, Timeout: 50 * time.Millisecond})
	if intent, err := c.Confirm(t.Context(), "a1:confirm", "pi_1"); err == nil {
		t.Fatalf("got %+v", intent)
	}
}

func TestConfirm_DeclinedShowsThePaymentAndItsReason(t *testing.T) {
	for name, failure := range map[string]string{
		"a decline":       `{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds","message":"Your card has insufficient funds."}`,
		"no 3-D Secure":   `{"type":"invalid_request_error","code":"payment_intent_authentication_failure","message":"We could not authenticate you."}`,
		"a brand new one": `{"type":"weather_error","code":"rain","message":"It rains.","umbrella":{"open":false}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := play(t, scripted{402, refusing("card_error", "card_declined",
				`,"payment_intent":`+shown("requires_payment_method", `,"last_payment_error":`+failure)), false})
			got, err := c.Confirm(t.Context(), "a1:confirm", "pi_1")
			if err != nil || got.State != origin.IntentDeclined || got.ID != "pi_1" || got.Attempt != "a1" ||
				got.Reason == "" || !strings.Contains(failure, got.Reason) {
				t.Fatalf("got %+v, %v", got, err)
			}
		})
	}
}

func TestCreate_RefusedForGoodIsDeclinedWithoutAnIntent(t *testing.T) {
	for name, tc := range map[string]struct {
		status            int
		kind, code, param string
		reason            string
		ours              bool // a mistake that no buyer can mend, so the operator is told
	}{
		"no such method":   {400, "invalid_request_error", "resource_missing", "payment_method", "This payment method cannot be used.", false},
		"a card":           {402, "card_error", "expired_card", "", "No: sk_test_SENTINEL", false}, // Stripe's own words
		"too small":        {400, "invalid_request_error", "amount_too_small", "amount", "The payment was refused.", true},
		"unknown currency": {400, "invalid_request_error", "", "currency", "The payment was refused.", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := play(t, scripted{tc.status, refusing(tc.kind, tc.code, fmt.Sprintf(`,"param":%q`, tc.param)), false})
			core, logs := observer.New(zap.DebugLevel)
			c.logger = zap.New(core)
			got, err := c.CreateIntent(t.Context(), "a1:create", origin.NewIntent{Attempt: "a1", Amount: 1, Currency: "eur", Method: "pm_1"})
			want := origin.Intent{Attempt: "a1", State: origin.IntentDeclined, Reason: tc.reason}
			if err != nil || got != want {
				t.Fatalf("got %+v, %v", got, err)
			}
			if told := logs.Len() == 1; told != tc.ours {
				t.Errorf("told the operator: %v", logs.All())
			}
		})
	}
}

func TestCancel_AsksAgainWhereAReplayDidNotCancel(t *testing.T) {
	busy := scripted{400, refusing("invalid_request_error", "payment_intent_unexpected_state", `,"payment_intent":`+shown("processing", "")), true}
	broke := scripted{500, refusing("api_error", "", ""), true}
	done := scripted{200, shown("canceled", ""), false}
	paid := scripted{400, refusing("invalid_request_error", "payment_intent_unexpected_state", `,"payment_intent":`+shown("succeeded", `,"latest_charge":"ch_1"`)), true}
	for name, tc := range map[string]struct {
		answers []scripted
		want    origin.IntentState
	}{
		"canceled at once":             {[]scripted{done}, origin.IntentCanceled},
		"canceled before":              {[]scripted{{200, shown("canceled", ""), true}}, origin.IntentCanceled},
		"paid meanwhile":               {[]scripted{paid}, origin.IntentPaid},
		"charging now":                 {[]scripted{{busy.status, busy.body, false}}, origin.IntentOpen},
		"charging then, canceled now":  {[]scripted{busy, done}, origin.IntentCanceled},
		"an error then, canceled now":  {[]scripted{broke, done}, origin.IntentCanceled},
		"an error then, charging now":  {[]scripted{broke, {busy.status, busy.body, false}}, origin.IntentOpen},
		"an error then, and one again": {[]scripted{broke, {500, broke.body, false}}, ""},
		"an error now":                 {[]scripted{{500, broke.body, false}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, tc.answers...)
			got, err := c.Cancel(t.Context(), "k", "pi_1")
			if got.State != tc.want || (err == nil) != (tc.want != "") {
				t.Fatalf("got %+v, %v", got, err)
			}
			if want := []string{"k", "k:again"}[:len(tc.answers)]; strings.Join(s.keys, " ") != strings.Join(want, " ") {
				t.Errorf("keys %q", s.keys)
			}
		})
	}
}

// F9, with Stripe's answers: a reply that is lost, and one that is replayed.
func TestRefund_IsDoneWhenStripeSaysSo(t *testing.T) {
	refund := func(status string) string {
		return fmt.Sprintf(`{"id":"re_1","object":"refund","amount":500,"payment_intent":"pi_1","status":%q,"failure_reason":null}`, status)
	}
	already := refusing("invalid_request_error", "charge_already_refunded", "")
	broke := refusing("api_error", "", "")
	for name, tc := range map[string]struct {
		answers []scripted
		ok      bool
	}{
		"succeeded":                   {[]scripted{{200, refund("succeeded"), false}}, true},
		"on its way":                  {[]scripted{{200, refund("pending"), false}}, true},
		"replayed":                    {[]scripted{{200, refund("succeeded"), true}}, true},
		"refunded before":             {[]scripted{{400, already, false}}, true},
		"told before that it was":     {[]scripted{{400, already, true}}, true},
		"an error then, done now":     {[]scripted{{500, broke, true}, {200, refund("succeeded"), false}}, true},
		"an error then, and was done": {[]scripted{{500, broke, true}, {400, already, false}}, true},
		"an error now":                {[]scripted{{500, broke, false}}, false},
		"failed":                      {[]scripted{{200, refund("failed"), false}}, false},
		"disputed":                    {[]scripted{{400, refusing("invalid_request_error", "charge_disputed", ""), false}}, false},
		"a key in use":                {[]scripted{{409, refusing("idempotency_error", "idempotency_key_in_use", ""), false}}, false},
		"something else":              {[]scripted{{200, `{}`, false}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, tc.answers...)
			err := c.Refund(t.Context(), "k", "pi_1", 500)
			if (err == nil) != tc.ok || err != nil && strings.Contains(err.Error(), "SENTINEL") {
				t.Fatalf("got %v", err)
			}
			if len(s.keys) != len(tc.answers) {
				t.Errorf("keys %q", s.keys)
			}
		})
	}
}
