package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/origin/gateway/simulator"
)

// visitor is somebody with a cookie jar at a foyer.
type visitor struct {
	*testing.T
	client *http.Client
	base   string
}

func newVisitor(t *testing.T, base string) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	return &visitor{t, &http.Client{Jar: jar, Transport: transport, Timeout: 20 * time.Second}, base}
}

// ask makes a call and reads the JSON that comes back.
func (v *visitor) ask(method, path, body string) (int, map[string]any) {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", "key of "+path)
	response, err := v.client.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		v.Fatalf("%s %s: status %d: %v", method, path, response.StatusCode, err)
	}
	return response.StatusCode, got
}

// A whole foyer whose account is kept by a simulator: the calls reach the address that the configuration names, with its
// key, and the webhooks come in over the edge, past the gate.
func TestTill_TakesMoneyThroughStripe(t *testing.T) {
	const secret = "whsec_of_the_endpoint"
	var gateway *simulator.Simulator // knows the edge's address, and so comes after it
	account := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer sk_test_1" {
			t.Errorf("authorized by %q", got)
		}
		gateway.ServeHTTP(w, r)
	}))
	t.Cleanup(account.Close)
	a := startApp(t, strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1)+fmt.Sprintf(
		"  payment: {provider: stripe, stripe: {secret_key: sk_test_1, webhook_secrets: [%s], api_base: %q}}\n", secret, account.URL))
	gateway = simulator.New(simulator.Settings{
		WebhookURL: a.Edge + "/webhooks/stripe", WebhookSecret: secret,
		Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second},
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = gateway.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })

	// The outcome of the second is told by webhook, long before the resolver would ask.
	for method, want := range map[string]int{"pm_card_visa": http.StatusCreated, "pm_card_3ds": http.StatusAccepted} {
		buyer := newVisitor(t, a.Edge)
		status, hold := buyer.ask(http.MethodPost, "/api/events/final/holds", `{"quantity":1}`)
		if status != http.StatusCreated {
			t.Fatalf("hold: %d %v", status, hold)
		}
		path := "/api/holds/" + hold["hold"].(string)
		if status, paid := buyer.ask(http.MethodPost, path+"/pay", fmt.Sprintf(`{"payment_method":%q}`, method)); status != want {
			t.Fatalf("pay with %s: %d %v", method, status, paid)
		}
		deadline := time.Now().Add(8 * time.Second)
		for state := any("paying"); state != "sold"; {
			if time.Now().After(deadline) {
				t.Fatalf("paid with %s, the hold is %v", method, state)
			}
			_, read := buyer.ask(http.MethodGet, path, "")
			state = read["state"]
		}
	}
}
