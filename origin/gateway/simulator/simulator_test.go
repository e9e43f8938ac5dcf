package simulator

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"foyer/origin"
	"foyer/origin/gateway/signature"
)

const secret = "whsec_test"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gateway is a simulator on a real listener with its client.
type gateway struct {
	*Client
	simulator *Simulator
	url       string
}

// start runs one; hook, if any, receives its webhooks.
func start(t *testing.T, timeout time.Duration, hook http.Handler) gateway {
	t.Helper()
	settings := Settings{WebhookSecret: secret}
	transport := &http.Transport{}
	if hook != nil {
		receiver := httptest.NewServer(hook)
		t.Cleanup(receiver.Close)
		settings.WebhookURL = receiver.URL
		settings.Client = &http.Client{Timeout: 5 * time.Second, Transport: transport}
	}
	simulator := New(settings)
	server := httptest.NewServer(simulator)
	client := NewClient(server.URL, timeout, []string{secret})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = simulator.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		client.Close()
		transport.CloseIdleConnections()
		server.Close()
	})
	return gateway{client, simulator, server.URL}
}

func (g gateway) create(t *testing.T, attempt, method string) origin.Intent {
	t.Helper()
	intent, err := g.CreateIntent(t.Context(), attempt+":create", origin.NewIntent{
		Attempt: attempt, Hold: "h_" + attempt, Amount: 500, Currency: "eur", Method: method,
	})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return intent
}

// post sends a form as Stripe's clients do.
func (g gateway) post(t *testing.T, path, key, form string) (int, string, http.Header) {
	t.Helper()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+path, strings.NewReader(form))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Idempotency-Key", key)
	response, err := g.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body), response.Header
}

func TestCreate_WithOneKeyIsOneIntent(t *testing.T) {
	g := start(t, 5*time.Second, nil)
	if one, two := g.create(t, "a1", "pm_card_visa"), g.create(t, "a1", "pm_card_visa"); one.ID != two.ID {
		t.Fatalf("two intents: %s, %s", one.ID, two.ID)
	}
	form := "amount=700&currency=eur&payment_method=pm_card_visa"
	if status, body, _ := g.post(t, "/v1/payment_intents", "a1:create", form); status != 400 || !strings.Contains(body, "idempotency_error") {
		t.Fatalf("other parameters: %d %s", status, body)
	}
}

func TestKey_ReplaysToTheByte(t *testing.T) {
	g := start(t, 5*time.Second, nil)
	form := "amount=700&currency=eur&payment_method=pm_card_visa"
	_, first, _ := g.post(t, "/v1/payment_intents", "k", form)
	_, second, header := g.post(t, "/v1/payment_intents", "k", form)
	if first != second || header.Get("Idempotent-Replayed") != "true" {
		t.Fatalf("replayed %q as %q", first, second)
	}
}

func TestKey_RefusedParametersLeaveItUnused(t *testing.T) {
	g := start(t, 5*time.Second, nil)
	if status, _, _ := g.post(t, "/v1/payment_intents", "k", "amount=0&currency=eur&payment_method=pm_card_visa"); status != 400 {
		t.Fatalf("status %d", status)
	}
	if status, _, _ := g.post(t, "/v1/payment_intents", "k", "amount=1&currency=eur&payment_method=pm_card_visa"); status != 200 {
		t.Fatalf("status %d", status)
	}
}

func TestConfirm_InFlightIsAConflict(t *testing.T) {
	g := start(t, 10*time.Second, nil)
	intent := g.create(t, "a1", "pm_card_slow")
	var first sync.WaitGroup
	first.Go(func() {
		if paid, err := g.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil || paid.State != origin.IntentPaid {
			t.Errorf("the slow one: %+v, %v", paid, err)
		}
	})
	eventually(t, func() bool {
		found, err := g.Intent(t.Context(), intent.ID)
		return err == nil && found.State == origin.IntentOpen
	})
	status, body, _ := g.post(t, "/v1/payment_intents/"+intent.ID+"/confirm", "a1:confirm", "")
	if status != http.StatusConflict {
		t.Errorf("in flight: %d %s", status, body)
	}
	if still, err := g.Cancel(t.Context(), "a1:cancel", intent.ID); err != nil || still.State != origin.IntentOpen {
		t.Errorf("an intent in progress was canceled: %+v, %v", still, err)
	}
	first.Wait()
}

func TestWebhook_IsSentAgainUntilTaken(t *testing.T) {
	var mu sync.Mutex
	var bodies [][]byte
	taken := make(chan string, 10)
	g := start(t, 5*time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, body)
		tries := len(bodies)
		mu.Unlock()
		if tries < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		taken <- r.Header.Get("Stripe-Signature")
	}))
	intent := g.create(t, "a1", "pm_card_3ds")
	if open, err := g.Confirm(t.Context(), "a1:confirm", intent.ID); err != nil || open.State != origin.IntentOpen {
		t.Fatalf("got %+v, %v", open, err)
	}
	header := <-taken
	mu.Lock()
	defer mu.Unlock()
	hook, paid, err := g.Webhook(header, bodies[2])
	if err != nil || hook.Type != "payment_intent.succeeded" || hook.Intent != intent.ID ||
		paid.State != origin.IntentPaid || paid.Attempt != "a1" || paid.Amount != 500 {
		t.Fatalf("got %+v, %+v, %v", hook, paid, err)
	}
	if !bytes.Equal(bodies[0], bodies[2]) {
		t.Fatal("a redelivery is another event")
	}
	if _, _, err := g.Webhook(header, append(bodies[2], ' ')); err == nil {
		t.Fatal("a changed body was believed")
	}
}

func TestWebhook_OfAnotherKindTellsNothingOfAPayment(t *testing.T) {
	g := start(t, 5*time.Second, nil)
	body := []byte(`{"id":"evt_1","type":"charge.refunded","data":{"object":{"object":"charge","id":"ch_1","status":"succeeded"}},"new":1}`)
	hook, intent, err := g.Webhook(signature.Sign(body, secret, time.Now()), body)
	if err != nil || hook.ID != "evt_1" || intent.State != "" {
		t.Fatalf("got %+v, %+v, %v", hook, intent, err)
	}
}

func TestIntent_ForgottenByARestartIsCanceled(t *testing.T) {
	g := start(t, 5*time.Second, nil)
	if i, err := g.Intent(t.Context(), "pi_unknown"); err != nil || i.State != origin.IntentCanceled {
		t.Fatalf("got %+v, %v", i, err)
	}
}

func TestKeys_AreBounded(t *testing.T) {
	k := newKeys()
	for i := range maxKeys + 10 {
		k.begin(url.QueryEscape(string(rune(i))), "f")
	}
	if len(k.byKey) > maxKeys || len(k.order) > maxKeys {
		t.Fatalf("%d keys", len(k.byKey))
	}
}

// eventually waits for a condition of another goroutine.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(5 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatal("it never came about")
		case <-tick.C:
		}
	}
}
