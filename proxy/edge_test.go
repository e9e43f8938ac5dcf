package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"foyer/admission"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestEdge_ForwardsAPass(t *testing.T) {
	s := newStand(t, nil)
	res, body := s.do("GET", "/sale/seats?a=1;b", "", "Cookie", "theme=dark; foyer-final=pass; x=y", "X-Foyer-Ticket", "1")
	if res.StatusCode != http.StatusOK || body != "shop" {
		t.Fatalf("got %d %q", res.StatusCode, body)
	}
	got := s.upstream.last()
	want := map[string]string{
		"X-Foyer-Visitor": "visitor-1", "X-Foyer-Ticket": "7", "X-Foyer-Gate": "final", "Cookie": "theme=dark; x=y",
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": s.server.Listener.Addr().String(),
	}
	for name, value := range want {
		if strings.Join(got.Header[name], "|") != value {
			t.Errorf("%s = %q, want %q", name, got.Header[name], value)
		}
	}
	if got.RequestURI != "/sale/seats?a=1;b" || got.Host != s.server.Listener.Addr().String() {
		t.Errorf("the upstream saw %s at %s", got.RequestURI, got.Host)
	}
	if s.room.inside != 0 {
		t.Errorf("%d requests are still in flight", s.room.inside)
	}
}

func TestEdge_NoGateIs404(t *testing.T) {
	s := newStand(t, nil)
	res, body := s.do("GET", "/elsewhere", "")
	if res.StatusCode != http.StatusNotFound || !strings.Contains(body, "urn:foyer:not-found") || s.upstream.count() != 0 {
		t.Fatalf("got %d %s", res.StatusCode, body)
	}
}

func TestEdge_BrowserGetsThePageAndAppsAProblem(t *testing.T) {
	s := newStand(t, nil)
	res, body := s.do("GET", "/sale", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language", "de-AT,de;q=0.9")
	if res.StatusCode != http.StatusOK || !strings.Contains(body, "Sie stehen in der Schlange") || !strings.Contains(body, ">317<") {
		t.Fatalf("got %d %s", res.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Refresh": "4", "Vary": "Cookie, Authorization, Accept, Accept-Language",
		"X-Robots-Tag": "noindex", "X-Frame-Options": "DENY", "Content-Language": "de",
	} {
		if res.Header.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, res.Header.Get(name), want)
		}
	}
	csp := res.Header.Get("Content-Security-Policy")
	_, nonce, _ := strings.Cut(csp, "script-src 'nonce-")
	nonce, _, _ = strings.Cut(nonce, "'")
	if !strings.HasPrefix(csp, "default-src 'none'") || len(nonce) < 16 || strings.Count(body, `nonce="`+nonce+`"`) != 3 {
		t.Errorf("policy %q with nonce %q does not fit the page", csp, nonce)
	}
	if cookie := res.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "foyer-final=fresh; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax") {
		t.Errorf("cookie %q", cookie)
	}

	res, body = s.do("GET", "/sale", "", "Accept", "*/*", "Cookie", "foyer-final=queue")
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Content-Type") != "application/problem+json" ||
		res.Header.Get("Retry-After") != "5" || res.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v", res.StatusCode, res.Header)
	}
	var p struct {
		Type   string
		Status int
		Queue  map[string]any
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	if p.Type != "urn:foyer:waiting" || p.Status != 429 || p.Queue["position"] != 317.0 || p.Queue["offer_expires_at"] != nil {
		t.Errorf("problem %s", body)
	}
	if s.upstream.count() != 0 {
		t.Error("the upstream has seen somebody who waits")
	}
}

// D8: whatever is not a page for a window is a problem, and a form is told that it was not sent.
func TestEdge_AnswersWaitingVisitorsByWhatTheyAskFor(t *testing.T) {
	const html = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	const form = "application/x-www-form-urlencoded"
	cases := map[string]struct {
		method, body string
		headers      []string
		status       int
		page         bool
	}{
		"navigation":         {"GET", "", []string{"Sec-Fetch-Mode", "navigate"}, 200, true},
		"prefers html":       {"GET", "", []string{"Accept", html}, 200, true},
		"head of a page":     {"HEAD", "", []string{"Accept", html}, 200, true},
		"plain get":          {"GET", "", nil, 429, false},
		"any type":           {"GET", "", []string{"Accept", "*/*"}, 429, false},
		"json":               {"GET", "", []string{"Accept", "application/json"}, 429, false},
		"json before html":   {"GET", "", []string{"Accept", "application/json, text/html;q=0.5"}, 429, false},
		"html refused":       {"GET", "", []string{"Accept", "text/html;q=0, */*"}, 429, false},
		"picture":            {"GET", "", []string{"Accept", "image/avif,image/webp,*/*;q=0.8"}, 429, false},
		"event source":       {"GET", "", []string{"Accept", "text/event-stream"}, 429, false},
		"head":               {"HEAD", "", nil, 429, false},
		"options":            {"OPTIONS", "", []string{"Accept", html}, 429, false},
		"post of json":       {"POST", "{}", []string{"Content-Type", "application/json", "Accept", html}, 429, false},
		"post by fetch":      {"POST", "a=b", []string{"Content-Type", form, "Accept", html, "Sec-Fetch-Mode", "cors"}, 429, false},
		"form":               {"POST", "a=b", []string{"Content-Type", form, "Sec-Fetch-Mode", "navigate"}, 429, true},
		"form of old":        {"POST", "a=b", []string{"Content-Type", form, "Accept", html}, 429, true},
		"delete":             {"DELETE", "", nil, 429, false},
		"prefetch of a page": {"GET", "", []string{"Sec-Fetch-Mode", "navigate", "Accept", html, "Sec-Purpose", "prefetch;prerender"}, 429, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, nil)
			res, body := s.do(c.method, "/sale", c.body, c.headers...)
			page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
			if res.StatusCode != c.status || page != c.page || res.Header.Get("Location") != "" {
				t.Fatalf("got %d %s", res.StatusCode, res.Header.Get("Content-Type"))
			}
			if res.Header.Get("Cache-Control") != "no-store" || s.upstream.count() != 0 {
				t.Errorf("cache control %q, %d requests upstream", res.Header.Get("Cache-Control"), s.upstream.count())
			}
			if c.method == "HEAD" && (body != "" || res.ContentLength <= 0) {
				t.Errorf("a head with %d bytes and length %d", len(body), res.ContentLength)
			}
			if c.page && c.method == "POST" && (res.Header.Get("Refresh") != "" || !strings.Contains(body, "Nothing was sent")) {
				t.Errorf("the form was not told that nothing was sent: %v", res.Header)
			}
			if speculative := c.method == "OPTIONS" || strings.HasPrefix(name, "prefetch"); speculative == (s.room.joined > 0) {
				t.Errorf("%d have joined", s.room.joined)
			}
		})
	}
}

func TestEdge_RefusalsHaveTheirStatus(t *testing.T) {
	cases := []struct {
		verdict admission.Verdict
		status  int
		kind    string
	}{
		{refused(admission.RefusedFull, admission.StateFull), 503, "full"},
		{refused(admission.RefusedClosed, admission.StateClosed), 403, "closed"},
		{refused(admission.RefusedSoldOut, admission.StateSoldOut), 410, "sold-out"},
		{refused(admission.RefusedStore, ""), 503, "store-unavailable"},
		{refused(admission.RefusedNoTicket, ""), 401, "no-ticket"},
		{refused(admission.RefusedNotOffered, admission.StateWaiting), 409, "not-offered"},
		{admission.Verdict{Status: admission.Status{State: admission.StateLobby}}, 429, "lobby"},
		{admission.Verdict{Status: admission.Status{State: admission.StatePaused}}, 429, "paused"},
		{admission.Verdict{Status: admission.Status{State: admission.StateSoldOut}}, 410, "sold-out"},
	}
	for _, c := range cases {
		s := newStand(t, nil)
		s.room.visit = func([]string, bool) admission.Verdict { return c.verdict }
		res, body := s.do("GET", "/sale", "")
		if res.StatusCode != c.status || !strings.Contains(body, `"urn:foyer:`+c.kind+`"`) {
			t.Errorf("%s: got %d %s", c.kind, res.StatusCode, body)
		}
		res, _ = s.do("GET", "/sale", "", "Accept", "text/html")
		want := c.status
		if want == http.StatusTooManyRequests {
			want = http.StatusOK
		}
		if res.StatusCode != want || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: the page has status %d, want %d", c.kind, res.StatusCode, want)
		}
	}
}
