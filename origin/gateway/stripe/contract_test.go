package stripe

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/origin"
)

// recorder hands requests on to stripe-mock and remembers them.
type recorder struct {
	url string

	mu   sync.Mutex
	seen []*http.Request
}

func newRecorder(t *testing.T) *recorder {
	target, err := url.Parse(services.StripeMock(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	transport := &http.Transport{}
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(p *httputil.ProxyRequest) {
		r.mu.Lock()
		r.seen = append(r.seen, p.In.Clone(p.In.Context()))
		r.mu.Unlock()
		p.SetURL(target)
	}}
	server := httptest.NewServer(forward)
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	r.url = server.URL
	return r
}

// last is the newest request.
func (r *recorder) last(t *testing.T) *http.Request {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 {
		t.Fatal("nothing was sent")
	}
	return r.seen[len(r.seen)-1]
}

// TestRequests_AreAsStripeDescribesThem runs every call against stripe-mock, which checks requests against the published
// description of the API and refuses unknown parameters, wrong types and missing ones.
func TestRequests_AreAsStripeDescribesThem(t *testing.T) {
	mock := newRecorder(t)
	c := connect(t, Settings{SecretKey: "sk_test_123", APIBase: mock.url, Timeout: 10 * time.Second})
	calls := []struct {
		name, request, key string
		make               func() (origin.Intent, error)
	}{
		{"create", "POST /v1/payment_intents", "a1:create", func() (origin.Intent, error) {
			return c.CreateIntent(t.Context(), "a1:create", origin.NewIntent{
				Attempt: "a1", Hold: "h1", Amount: 12000, Currency: "eur", Method: "pm_card_visa",
			})
		}},
		{"confirm", "POST /v1/payment_intents/pi_1/confirm", "a1:confirm", func() (origin.Intent, error) {
			return c.Confirm(t.Context(), "a1:confirm", "pi_1")
		}},
		{"retrieve", "GET /v1/payment_intents/pi_1", "", func() (origin.Intent, error) {
			return c.Intent(t.Context(), "pi_1")
		}},
		{"cancel", "POST /v1/payment_intents/pi_1/cancel", "a1:cancel", func() (origin.Intent, error) {
			return c.Cancel(t.Context(), "a1:cancel", "pi_1")
		}},
		{"refund", "POST /v1/refunds", "a1:refund", func() (origin.Intent, error) {
			return origin.Intent{ID: "-"}, c.Refund(t.Context(), "a1:refund", "pi_1", 12000)
		}},
	}
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			intent, err := call.make()
			if err != nil || intent.ID == "" {
				t.Fatalf("got %+v, %v", intent, err)
			}
			sent := mock.last(t)
			if got := sent.Method + " " + sent.URL.Path; got != call.request {
				t.Errorf("sent %s", got)
			}
			if got := sent.Header.Get("Idempotency-Key"); got != call.key {
				t.Errorf("with the key %q", got)
			}
			if got := sent.Header.Get("Authorization"); got != "Bearer sk_test_123" {
				t.Errorf("authorized by %q", got)
			}
			for name := range sent.Header {
				if strings.HasPrefix(name, "X-Stripe-Client") {
					t.Errorf("the header %s tells of this machine: %q", name, sent.Header[name])
				}
			}
		})
	}
}
