package loadtest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestTransport_SendsNothingBeyondThisMachine(t *testing.T) {
	transport := NewTransport(TransportSettings{Connections: 1})
	for _, url := range []string{"http://192.0.2.1/", "http://[2001:db8::1]:8080/", "http://0.0.0.0:1/"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := transport.RoundTrip(request); err == nil {
			answer.Body.Close()
			t.Errorf("%s was reached", url)
		} else if !strings.Contains(err.Error(), "not a loopback address") {
			t.Errorf("%s: %v, want a refusal", url, err)
		}
	}
}

func TestWarm_LeavesTheConnectionsForLater(t *testing.T) {
	const n = 20
	var opened atomic.Int64
	all := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-all }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateActive && opened.Add(1) == n {
			close(all)
		}
	}
	server.Start()
	defer server.Close()
	transport := NewTransport(TransportSettings{Connections: n})
	defer transport.CloseIdleConnections()
	if err := Warm(t.Context(), transport, server.URL, n); err != nil {
		t.Fatal(err)
	}
	if got := opened.Load(); got != n {
		t.Errorf("%d connections were opened, want %d", got, n)
	}
}
