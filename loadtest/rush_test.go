package loadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// smallShop sells so many tickets and keeps no books.
func smallShop(capacity int64) http.Handler {
	var taken atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/events/final", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"capacity":%d}`, capacity)
	})
	mux.HandleFunc("POST /api/events/final/holds", func(w http.ResponseWriter, _ *http.Request) {
		n := taken.Add(1)
		if n > capacity {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"type":"urn:foyer:sold-out"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"hold":"h%d","state":"active"}`, n)
	})
	mux.HandleFunc("POST /api/holds/{hold}/pay", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"order":"order-of-%s"}`, r.PathValue("hold"))
	})
	return mux
}

func TestRush_CountsEveryAnswerOnce(t *testing.T) {
	server := httptest.NewServer(smallShop(10))
	defer server.Close()
	transport := NewTransport(TransportSettings{Connections: 50})
	defer transport.CloseIdleConnections()
	rushed, err := Rush{Base: server.URL, Event: "final", Buyers: 50, Transport: transport}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rushed.Answered != 50 || len(rushed.Winners) != 10 || rushed.Refused != 40 || rushed.Latency.Count() != 50 {
		t.Errorf("%d answered, %d won, %d refused, %d timed; want 50, 10, 40, 50",
			rushed.Answered, len(rushed.Winners), rushed.Refused, rushed.Latency.Count())
	}
	order, err := rushed.Winners[0].Settle(t.Context())
	if want := "order-of-" + rushed.Winners[0].Hold; err != nil || order != want {
		t.Errorf("order %q, %v; want %q", order, err, want)
	}
}

func TestRush_FailsWhereTheShopDoes(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	transport := NewTransport(TransportSettings{Connections: 2})
	defer transport.CloseIdleConnections()
	if _, err := (Rush{Base: server.URL, Event: "final", Buyers: 2, Transport: transport}).Run(t.Context()); err == nil {
		t.Error("a shop that is not there was rushed without an error")
	}
}
