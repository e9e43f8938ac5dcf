package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"foyer/admission"
)

// fakeGate is an Operated that remembers what was asked of it.
type fakeGate struct {
	asked   []string
	settled int // how often it was waited for
	err     error
	ready   chan struct{}
}

var _ Operated = (*fakeGate)(nil)

func (f *fakeGate) Info() admission.GateInfo {
	return admission.GateInfo{
		Gate: "final", Mode: admission.ModeOn, Capacity: 50, Active: 48, Offered: 2, Waiting: 317, Tail: 1042, Head: 700,
		AdmittedPerMinute: 12.34, Round: "r1", Store: "ok",
	}
}

func (f *fakeGate) Change(_ context.Context, c admission.Change) error {
	text := "change"
	if c.Mode != nil {
		text += " " + string(*c.Mode)
	}
	if c.Capacity != nil {
		text += fmt.Sprint(" ", *c.Capacity)
	}
	if c.AdmitRate != nil {
		text += fmt.Sprint(" ", *c.AdmitRate)
	}
	f.asked = append(f.asked, text)
	return f.err
}

func (f *fakeGate) SoldOut(left int) { f.asked[len(f.asked)-1] += fmt.Sprint(" stock ", left) }

func (f *fakeGate) Settled(context.Context) { f.settled++ }

func (f *fakeGate) Reset(context.Context) error {
	f.asked = append(f.asked, "reset")
	return f.err
}

func (f *fakeGate) Release(_ context.Context, t admission.Ticket) error {
	f.asked = append(f.asked, fmt.Sprint("release ", t))
	return f.err
}

func (f *fakeGate) Ready() <-chan struct{} { return f.ready }

// ask sends one call to an admin handler.
func ask(t *testing.T, a *Admin, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:9090"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

func TestAdmin_ShowsAndChangesGates(t *testing.T) {
	const info = `"capacity":50,"admit_rate":0,"active":48,"offered":2,"leaving":0,"lapsed":0,"waiting":317,"tail":1042,"head":700,` +
		`"admitted_per_minute":12.3,"eta_seconds":null,"round":"r1","store":"ok","sold_out":false,"as_of":null,"gives_at":null}`
	for _, c := range []struct {
		method, path, body string
		status             int
		contains, asked    string
	}{
		{"GET", "/api/gates", "", 200, `[{"gate":"final","mode":"on",` + info + "]", ""},
		{"GET", "/api/gates/final", "", 200, `{"gate":"final","mode":"on",` + info, ""},
		{"GET", "/api/gates/other", "", 404, "not-found", ""},
		{"PATCH", "/api/gates/final", `{"mode":"paused","capacity":80,"admit_rate":0}`, 200, `"mode":"paused","capacity":80`, "change paused 80 0"},
		{"PATCH", "/api/gates/final", `{"capacity":1}`, 200, `"capacity":1,`, "change 1"},
		{"PATCH", "/api/gates/final", `{"capacity":9,"stock":0}`, 200, `"capacity":9,`, "change 9 stock 0"},
		{"PATCH", "/api/gates/final", `{"stock":-1}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"capacity":0}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"capacity":10000001}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"capacity":"80"}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"admit_rate":-1}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"mode":"maybe"}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"kapacity":80}`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", `{"capacity":80} x`, 400, "bad-request", ""},
		{"PATCH", "/api/gates/final", strings.Repeat(" ", maxChange+1), 413, "too-large", ""},
		{"POST", "/api/gates/final/reset", "", 200, `"gate":"final"`, "reset"},
		{"DELETE", "/api/gates/final/tickets/7", "", 204, "", "release 7"},
		{"DELETE", "/api/gates/final/tickets/0", "", 400, "bad-request", ""},
		{"DELETE", "/api/gates/final/tickets/x", "", 400, "bad-request", ""},
		{"DELETE", "/api/gates/final", "", 405, "", ""},
	} {
		gate := &fakeGate{}
		w := ask(t, NewAdmin(AdminSettings{Gates: map[string]Operated{"final": gate}}), c.method, c.path, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.contains) || strings.Join(gate.asked, ",") != c.asked {
			t.Errorf("%s %s %s: %d %s, asked %v", c.method, c.path, c.body, w.Code, w.Body, gate.asked)
		}
		if gate.settled != len(gate.asked) {
			t.Errorf("%s %s %s: answered before what it did is shown", c.method, c.path, c.body)
		}
	}
	gate := &fakeGate{err: errors.New("the store is away")}
	w := ask(t, NewAdmin(AdminSettings{Gates: map[string]Operated{"final": gate}}), "POST", "/api/gates/final/reset", "")
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "away") {
		t.Errorf("a store that fails: %d %s", w.Code, w.Body)
	}
}

// G5: no web page, and nobody without the token, may call it.
func TestAdmin_ChecksHostOriginAndToken(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { respondText(w, "metrics") })
	a := NewAdmin(AdminSettings{Token: "right", Hosts: []string{"foyer.internal"}, Gates: map[string]Operated{}, Metrics: metrics})
	const token = "Bearer right"
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
	}{
		"token":             {"/api/gates", []string{"Authorization", token}, 200},
		"no token":          {"/api/gates", nil, 401},
		"wrong token":       {"/api/gates", []string{"Authorization", "Bearer wrong"}, 401},
		"other scheme":      {"/api/gates", []string{"Authorization", "Basic right"}, 401},
		"metrics":           {"/metrics", []string{"Authorization", token}, 200},
		"metrics, no token": {"/metrics", nil, 401},
		"page":              {"/", nil, 200},
		"probe":             {"/livez", []string{"Host", "evil.example"}, 200},
		"localhost":         {"/api/gates", []string{"Authorization", token, "Host", "localhost:9090"}, 200},
		"own name":          {"/api/gates", []string{"Authorization", token, "Host", "FOYER.internal."}, 200},
		"address":           {"/api/gates", []string{"Authorization", token, "Host", "[::1]:9090"}, 200},
		"rebound name":      {"/api/gates", []string{"Authorization", token, "Host", "evil.example"}, 403},
		"rebound page":      {"/", []string{"Host", "evil.example"}, 403},
		"own origin":        {"/api/gates", []string{"Authorization", token, "Origin", "http://127.0.0.1:9090"}, 200},
		"other origin":      {"/api/gates", []string{"Authorization", token, "Origin", "http://evil.example"}, 403},
		"null origin":       {"/api/gates", []string{"Authorization", token, "Origin", "null"}, 403},
		"cross-site":        {"/api/gates", []string{"Authorization", token, "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if w := ask(t, a, "GET", c.path, "", c.headers...); w.Code != c.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestAdmin_AnswersInProblemsWhereThereIsNothing(t *testing.T) {
	a := NewAdmin(AdminSettings{Gates: map[string]Operated{"final": &fakeGate{}}})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/nothing", 404, ""}, {"GET", "/api/events/final/ledger", 404, ""}, {"POST", "/api/reconcile", 404, ""},
		{"PUT", "/api/gates/final", 405, "GET, HEAD, PATCH"}, {"GET", "/api/gates/final/reset", 405, "POST"},
	} {
		w := ask(t, a, c.method, c.path, "")
		if w.Code != c.status || w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, w.Code, w.Header(), w.Body)
		}
	}
}

func TestMetrics_OfAGateBeginAtZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	metrics.Opened("final")
	for _, name := range []string{
		"gate_requests_total", "gate_admissions_total", "gate_wait_seconds", "gate_estimate_error_seconds", "gate_slot_idle_seconds",
		"upstream_duration_seconds", "token_rejected_total", "token_shared_total",
	} {
		if n, err := testutil.GatherAndCount(registry, "foyer_"+name); err != nil || n == 0 {
			t.Errorf("there is no foyer_%s before anything has happened, %v", name, err)
		}
	}
}

func TestAdmin_LogsWhoChangedWhat(t *testing.T) {
	core, lines := observer.New(zap.InfoLevel)
	a := NewAdmin(AdminSettings{Token: "right", Gates: map[string]Operated{"final": &fakeGate{}}, Logger: zap.New(core)})
	ask(t, a, "GET", "/api/gates/final", "", "Authorization", "Bearer right")
	ask(t, a, "PATCH", "/api/gates/final", `{"capacity":80}`, "Authorization", "Bearer right")
	if lines.Len() != 1 {
		t.Fatalf("%d lines", lines.Len())
	}
	fields := lines.All()[0].ContextMap()
	if fields["change"] != `{"capacity":80}` || fields["path"] != "/api/gates/final" || fields["status"] != int64(200) || fields["network"] != "192.0.2.0/24" {
		t.Errorf("logged %v", fields)
	}
}

func TestAdmin_IsReadyOnceEveryRoomIs(t *testing.T) {
	gate, draining := &fakeGate{ready: make(chan struct{})}, false
	a := NewAdmin(AdminSettings{Gates: map[string]Operated{"final": gate}, Draining: func() bool { return draining }})
	if w := ask(t, a, "GET", "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), `"starting"`) {
		t.Errorf("before the first tick: %d %s", w.Code, w.Body)
	}
	close(gate.ready)
	if w := ask(t, a, "GET", "/readyz", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"stores":{"final":"ok"}`) {
		t.Errorf("after it: %d %s", w.Code, w.Body)
	}
	draining = true
	if w := ask(t, a, "GET", "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), `"draining"`) {
		t.Errorf("draining: %d %s", w.Code, w.Body)
	}
}

func TestAdmin_PageHoldsNoData(t *testing.T) {
	w := ask(t, NewAdmin(AdminSettings{Token: "right", Gates: map[string]Operated{"final": &fakeGate{}}, Events: []string{`x"</script>`}}), "GET", "/", "")
	body := w.Body.String()
	if w.Code != 200 || strings.Contains(body, "right\"") || strings.Contains(body, "1042") || strings.Count(body, "</script>") != 1 {
		t.Errorf("%d %s", w.Code, body)
	}
}

func TestGateCollector_TellsHowGatesStand(t *testing.T) {
	c := NewGateCollector(func() map[string]Operated { return map[string]Operated{"final": &fakeGate{}} })
	const want = `# HELP foyer_gate_active Leases.
# TYPE foyer_gate_active gauge
foyer_gate_active{gate="final"} 48
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "foyer_gate_active"); err != nil {
		t.Error(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 4 {
		t.Errorf("%d metrics, %v", n, err)
	}
}
