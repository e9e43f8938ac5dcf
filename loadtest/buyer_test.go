package loadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// edge answers from a script: for each "METHOD path" its answers in turn, the last one again and again.
type edge struct {
	mu     sync.Mutex
	script map[string][]string
	asked  []string
}

// ServeHTTP answers with "status body"; a body that is a bare word is a problem of that type.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	e.asked = append(e.asked, request)
	answers := e.script[request]
	if len(answers) == 0 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(answers) > 1 {
		e.script[request] = answers[1:]
	}
	code, body, _ := strings.Cut(answers[0], " ")
	if body != "" && body[0] != '{' {
		w.Header().Set("Content-Type", "application/problem+json")
		body = fmt.Sprintf(`{"type":"urn:foyer:%s","status":%s,"queue":{"state":"waiting","ticket":7,"position":3,"poll_after_ms":50}}`, body, code)
	}
	status := 0
	fmt.Sscan(code, &status)
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// walk runs one buyer against a script.
func walk(t *testing.T, plan Plan, script map[string][]string) (Outcome, []string) {
	t.Helper()
	e := &edge{script: script}
	server := httptest.NewServer(e)
	defer server.Close()
	transport := NewTransport(TransportSettings{Connections: 4})
	defer transport.CloseIdleConnections()
	plan.Event, plan.Quantity = "final", 1
	site := Site{Base: server.URL, Gate: "main", Entry: "/api/events/final", Transport: transport, Latency: NewLatency()}
	outcome := NewBuyer(site, plan).Run(t.Context())
	e.mu.Lock()
	defer e.mu.Unlock()
	return outcome, e.asked
}

const (
	inside   = `200 {"capacity":10,"sold":4,"held":6,"remaining":0}`
	allSold  = `200 {"capacity":10,"sold":10,"held":0,"remaining":0}`
	held     = `201 {"hold":"h1","state":"active"}`
	waiting  = `200 {"state":"waiting","ticket":7,"position":2,"poll_after_ms":50}`
	longWait = `200 {"state":"waiting","ticket":7,"position":2,"poll_after_ms":3600000}`
	offered  = `200 {"state":"offered","ticket":7,"position":0,"poll_after_ms":50}`
	soldOut  = `200 {"state":"sold_out","ticket":7,"position":1,"poll_after_ms":50}`
	receipt  = `200 {"order":"o1"}`
	paid     = `201 {"order":"o1","charge":"ch_1"}`
	entry    = "GET /api/events/final"
	status   = "GET /_foyer/main/status"
	leave    = "POST /_foyer/main/leave"
	holdCall = "POST /api/events/final/holds"
	payCall  = "POST /api/holds/h1/pay"
	order    = "GET /api/orders/o1"
)

func TestBuyer_WalksItsPlanToTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		plan   Plan
		script map[string][]string
		want   End
		asks   []string
	}{
		{"waits, holds, pays", Plan{Patience: -1}, map[string][]string{
			entry: {"429 waiting", inside}, status: {waiting, offered}, holdCall: {held}, payCall: {paid}, order: {receipt},
		}, Bought, []string{entry, status, status, entry, holdCall, payCall, order}},
		{"pays again with the same key while the outcome is unknown", Plan{Patience: -1}, map[string][]string{
			entry: {inside}, holdCall: {held}, payCall: {"202 payment-pending", "409 request-in-progress", paid}, order: {receipt},
		}, Bought, []string{entry, holdCall, payCall, payCall, payCall, order}},
		{"gives up in line and says so", Plan{Patience: 2 * time.Second}, map[string][]string{
			entry: {"429 waiting"}, status: {longWait}, leave: {"204"},
		}, GaveUp, []string{entry, status, leave}},
		{"walks away from its hold", Plan{Patience: -1, Fate: WalksAway}, map[string][]string{
			entry: {inside}, holdCall: {held}, leave: {"204"},
		}, LeftUnpaid, []string{entry, holdCall, leave}},
		{"vanishes without a word", Plan{Patience: -1, Fate: VanishesNow}, map[string][]string{entry: {inside}}, Vanished, []string{entry}},
		{"persists while others hold what is left", Plan{Patience: -1, Persist: time.Minute}, map[string][]string{
			entry: {inside, inside}, holdCall: {"409 sold-out", held}, payCall: {paid}, order: {receipt},
		}, Bought, []string{entry, holdCall, entry, holdCall, payCall, order}},
		{"goes when all is sold", Plan{Patience: -1, Persist: time.Minute}, map[string][]string{
			entry: {inside, allSold}, holdCall: {"409 sold-out"}, leave: {"204"},
		}, SoldOut, []string{entry, holdCall, entry, leave}},
		{"hears in line that all is sold", Plan{Patience: -1}, map[string][]string{
			entry: {"429 waiting"}, status: {soldOut},
		}, SoldOut, []string{entry, status}},
		{"is turned away from a full gate", Plan{Patience: -1}, map[string][]string{entry: {"503 full"}}, Refused, []string{entry}},
		{"is declined", Plan{Patience: -1}, map[string][]string{
			entry: {inside}, holdCall: {held}, payCall: {"402 declined"}, leave: {"204"},
		}, Declined, []string{entry, holdCall, payCall, leave}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			outcome, asked := walk(t, tc.plan, tc.script)
			if outcome.End != tc.want || outcome.Err != nil {
				t.Errorf("the visit ends with %q (%v), want %q", outcome.End, outcome.Err, tc.want)
			}
			if !slices.Equal(asked, tc.asks) {
				t.Errorf("asked %q\nwant  %q", asked, tc.asks)
			}
		})
	}
}

func TestBuyer_ReportsWhatBroke(t *testing.T) {
	outcome, _ := walk(t, Plan{Patience: -1}, map[string][]string{entry: {inside}})
	if outcome.End != Failed || outcome.Err == nil {
		t.Errorf("an answer of another kind ends the visit with %q, %v; want an error", outcome.End, outcome.Err)
	}
}
