package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"foyer/origin"
	"foyer/origin/gateway/simulator"
	"foyer/origin/gateway/stripe"
)

const (
	secret  = "whsec_test"
	patient = 10 * time.Second
)

// client is a gateway that keeps connections.
type client interface {
	origin.Gateway
	Close()
}

// clients make those under test.
var clients = map[string]func(base string, timeout time.Duration) client{
	simulator.Provider: func(base string, timeout time.Duration) client {
		return simulator.NewClient(base, timeout, []string{"whsec_old", secret})
	},
	stripe.Provider: func(base string, timeout time.Duration) client {
		return stripe.NewClient(stripe.Settings{
			SecretKey: "sk_test_1", WebhookSecrets: []string{"whsec_old", secret}, APIBase: base, Timeout: timeout,
		})
	},
}

// each runs a test against a simulator of its own, once with every client.
func each(t *testing.T, timeout time.Duration, test func(*testing.T, *bench)) {
	for name, connect := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBench(t, func(base string) client { return connect(base, timeout) }))
		})
	}
}

// bench is a client connected to a simulator, with the webhooks that came.
type bench struct {
	client
	url      string
	plain    *http.Client
	webhooks chan delivery
}

// delivery is a webhook as it came.
type delivery struct {
	header string
	body   []byte
}

func newBench(t *testing.T, connect func(base string) client) *bench {
	b := &bench{plain: &http.Client{Transport: &http.Transport{}}, webhooks: make(chan delivery, 100)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.webhooks <- delivery{r.Header.Get("Stripe-Signature"), body}
	}))
	gateway := simulator.New(simulator.Settings{WebhookURL: receiver.URL, WebhookSecret: secret, Client: b.plain})
	server := httptest.NewServer(gateway)
	b.url, b.client = server.URL, connect(server.URL)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = gateway.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		b.Close()
		b.plain.CloseIdleConnections()
		server.Close()
		receiver.Close()
	})
	return b
}

// create opens a payment of 5.00 for an attempt.
func (b *bench) create(t *testing.T, attempt, method string) origin.Intent {
	t.Helper()
	intent, err := b.CreateIntent(t.Context(), attempt+":create", origin.NewIntent{
		Attempt: attempt, Hold: "h_" + attempt, Amount: 500, Currency: "eur", Method: method,
	})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return intent
}

// charged asks the simulator itself.
func (b *bench) charged(t *testing.T) simulator.Totals {
	t.Helper()
	response, err := b.plain.Get(b.url + "/_simulator/charges")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var totals simulator.Totals
	if err := json.NewDecoder(response.Body).Decode(&totals); err != nil {
		t.Fatal(err)
	}
	return totals
}
