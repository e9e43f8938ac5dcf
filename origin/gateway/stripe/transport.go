package stripe

import (
	"crypto/rand"
	"io"
	"net/http"
	"time"
)

const (
	maxAnswer = 1 << 20
	maxIdle   = 64 // connections; with HTTP/2, which Stripe speaks, one is enough
	pingAfter = 15 * time.Second
)

// newHTTPClient makes a client that no dead connection holds up for longer than a time-out, and that follows no redirect:
// Stripe's API has none.
func newHTTPClient(timeout time.Duration) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxIdle
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: min(pingAfter, timeout)}
	return &http.Client{
		Timeout:       timeout,
		Transport:     discreet{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// discreet is a transport that does not tell Stripe about this machine: the library adds what `uname -a` prints, the
// host's name included. It also bounds what an answer may take of memory.
type discreet struct{ next *http.Transport }

// RoundTrip sends a request.
func (d discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("X-Stripe-Client-User-Agent")
	response, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

// CloseIdleConnections is what [http.Client] asks for.
func (d discreet) CloseIdleConnections() { d.next.CloseIdleConnections() }

// anotherKey makes a key for the same step that has never been used.
func anotherKey(key string) string { return key + ":" + rand.Text() }
