package proxy

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// explained runs a raw request through Explain, with the gates of explainSettings.
func explained(t *testing.T, settings Settings, raw string) Explanation {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "192.0.2.7:1234"
	found, err := Explain(settings, r)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func explainSettings() Settings {
	elsewhere := Upstream{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}}
	return Settings{
		Always: []Route{{Method: "POST", Path: "/webhooks/simulator", Handler: http.NotFoundHandler()}},
		Gates: []Gate{
			{Name: "default", Upstream: elsewhere, Match: Match{Paths: []string{"/last"}}},
			{Name: "final", Match: Match{Hosts: []string{"*.example.com"}, Paths: []string{"/sale/**"}},
				Upstream: Upstream{Handler: http.NotFoundHandler()}, Ungated: []string{"/sale/holds/**"},
				Also:   []string{"/api/seats", "/sale/holds/**"},
				Bypass: []Bypass{{Paths: []string{"/sale/assets/**"}}, {HeaderName: "X-Staff-Key", HeaderValue: "swordfish"}}},
			{Name: "semi", Upstream: elsewhere, Match: Match{Hosts: []string{"semi.test"}}},
		},
	}
}

func TestExplain_SaysWhatTheEdgeDoes(t *testing.T) {
	const shop = "Host: shop.example.com\r\n"
	for _, tc := range []struct{ line, headers, want string }{
		{"GET /sale/seats", shop, "gated final [host *.example.com, path /sale/**] /sale/seats"},
		{"GET //sale/./x/../seats%41", shop, "gated final [host *.example.com, path /sale/**] /sale/seatsA"},
		{"GET /sale", "Host: SHOP.example.com.:80\r\n", "gated final [host *.example.com, path /sale/**] /sale"},
		{"OPTIONS /sale/seats", shop, "speculative final [host *.example.com, path /sale/**] /sale/seats"},
		{"GET /sale/seats", shop + "Sec-Purpose: prefetch\r\n", "speculative final [host *.example.com, path /sale/**] /sale/seats"},
		{"GET /sale/assets/x.js", shop, "bypass 1 final [host *.example.com, path /sale/**] /sale/assets/x.js"},
		{"GET /sale/x", shop + "X-Staff-Key: swordfish\r\n", "bypass 2 final [host *.example.com, path /sale/**] /sale/x"},
		{"GET /sale/x", shop + "X-Staff-Key: sailfish\r\n", "gated final [host *.example.com, path /sale/**] /sale/x"},
		{"GET /sale/holds/1", shop, "ungated final [host *.example.com, path /sale/**] /sale/holds/1"},
		{"GET /api/seats", shop, "gated final [host *.example.com, path /api/seats, which is no gate's own] /api/seats"},
		{"GET /api/seats", "Host: x\r\n", "refused 404 no gate matches /api/seats"},
		{"GET /anything", "Host: semi.test\r\n", "gated semi [host semi.test, any path] /anything"},
		{"GET /last", "Host: x\r\n", "gated default [any host, path /last] /last"},
		{"GET /other", shop, "refused 404 no gate matches /other"},
		{"GET /sale/x%2f..%2fy", shop, "refused 400 ambiguous path or host"},
		{"GET /sale;x=1", shop, "refused 400 ambiguous path or host"},
		{"GET /sale", "Host: a b\r\n", "refused 400 ambiguous path or host"},
		{"TRACE /sale", shop, "refused 405 Method not allowed"},
		{"BREW /sale", shop, "refused 501 Method not implemented"},
		{"GET /_foyer/final/status", shop, "own final/status final /_foyer/final/status"},
		{"POST /_foyer/final/claim", shop, "own final/claim final /_foyer/final/claim"},
		{"GET /_foyer/health", shop, "own health /_foyer/health"},
		{"POST /_foyer/health", shop, "refused 405 Method not allowed /_foyer/health"},
		{"GET /_foyer/nope/status", shop, "refused 404 no such gate or endpoint /_foyer/nope/status"},
		{"POST /webhooks/simulator", shop, "always /webhooks/simulator"},
	} {
		e := explained(t, explainSettings(), tc.line+" HTTP/1.1\r\n"+tc.headers+"\r\n")
		words := []string{e.Verdict}
		if e.Bypass > 0 {
			words = append(words, fmt.Sprint(e.Bypass))
		}
		if e.Status > 0 {
			words = append(words, fmt.Sprint(e.Status), e.Reason)
		}
		words = append(words, e.Endpoint, e.Gate)
		if e.By != "" {
			words = append(words, "["+e.By+"]")
		}
		words = append(words, e.Path)
		if got := strings.Join(strings.Fields(strings.Join(words, " ")), " "); got != tc.want {
			t.Errorf("%s %q:\n got %s\nwant %s", tc.line, tc.headers, got, tc.want)
		}
	}
}

func TestExplain_NamesTheGatesTriedBefore(t *testing.T) {
	e := explained(t, explainSettings(), "GET /last HTTP/1.1\r\nHost: a.example.com\r\n\r\n")
	if want := (Explanation{Passed: []Miss{{"final", "another path"}, {"semi", "another host"}}}); fmt.Sprint(e.Passed) != fmt.Sprint(want.Passed) {
		t.Errorf("passed %v, want %v", e.Passed, want.Passed)
	}
}

func TestExplain_RefusesSettingsThatAnEdgeRefuses(t *testing.T) {
	r, _ := http.NewRequest("GET", "/", nil)
	if _, err := Explain(Settings{Gates: []Gate{{Name: "x"}}}, r); err == nil {
		t.Error("a gate without an upstream was explained")
	}
}
