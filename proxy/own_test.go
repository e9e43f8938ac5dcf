package proxy

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

func TestStatus_IsTheObjectOfTheWire(t *testing.T) {
	s := newStand(t, nil)
	res, body := s.do("GET", "/_foyer/final/status", "", "Cookie", "foyer-final=queue")
	want := `{"gate":"final","state":"waiting","ticket":1042,"position":317,"ahead":316,"waiting":5210,` +
		`"eta_seconds":{"low":95,"high":160},"poll_after_ms":4720,"offer_expires_at":null,"session_expires_at":null,` +
		`"opens_at":null,"as_of":"2026-11-29T15:04:05.123Z","reason":null}` + "\n"
	if res.StatusCode != http.StatusOK || body != want {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
	for name, want := range map[string]string{"Retry-After": "5", "Cache-Control": "no-store", "Content-Type": "application/json"} {
		if res.Header.Get(name) != want {
			t.Errorf("%s is %q", name, res.Header.Get(name))
		}
	}
}

func TestOwn_EndpointsAnswerAsTheyShould(t *testing.T) {
	offered := func([]string) admission.Verdict {
		return admission.Verdict{Outcome: admission.Wait, Ticket: 3, Status: admission.Status{
			State: admission.StateOffered, Ticket: 3, OfferExpires: time.Now(), PollAfter: time.Second}}
	}
	cases := []struct {
		method, path string
		headers      []string
		status       int
		contains     string
	}{
		{"GET", "/_foyer/health", nil, 200, "ok"},
		{"HEAD", "/_foyer/health", nil, 200, ""},
		{"POST", "/_foyer/health", nil, 405, "method-not-allowed"},
		{"GET", "/_foyer/jwks.json", nil, 200, `{"keys":[]}`},
		{"GET", "/_foyer/final/draw", nil, 404, "not-found"},
		{"GET", "/_foyer/other/status", nil, 404, "not-found"},
		{"GET", "/_foyer/final/nothing", nil, 404, "not-found"},
		{"GET", "/_foyer/final/status/x", nil, 404, "not-found"},
		{"GET", "/_foyer", nil, 404, "not-found"},
		{"GET", "/%5ffoyer/health", nil, 200, "ok"},
		{"GET", "/_foyerx", nil, 404, "no gate"},
		{"GET", "/_foyer/final/status", nil, 401, "no-ticket"},
		{"GET", "/_foyer/final/status", []string{"Cookie", "foyer-final=junk", "Accept", "text/html"}, 401, "no-ticket"},
		{"GET", "/_foyer/final/status", []string{"Authorization", "Foyer pass"}, 200, `"state":"admitted"`},
		{"POST", "/_foyer/final/status", nil, 405, "method-not-allowed"},
		{"GET", "/_foyer/final/join", nil, 405, "method-not-allowed"},
		{"POST", "/_foyer/final/join", nil, 201, `"state":"waiting"`},
		{"POST", "/_foyer/final/join", []string{"Cookie", "foyer-final=queue"}, 200, `"ticket":1042`},
		{"POST", "/_foyer/final/join", []string{"Sec-Fetch-Site", "cross-site"}, 403, "cross-origin"},
		{"POST", "/_foyer/final/join", []string{"Origin", "https://evil.example"}, 403, "cross-origin"},
		{"POST", "/_foyer/final/claim", nil, 401, "no-ticket"},
		{"POST", "/_foyer/final/claim", []string{"Cookie", "foyer-final=queue"}, 409, `"type":"urn:foyer:not-offered"`},
		{"POST", "/_foyer/final/claim", []string{"Cookie", "foyer-final=pass"}, 200, `"state":"admitted"`},
		{"POST", "/_foyer/final/leave", nil, 204, ""},
		{"POST", "/_foyer/final/leave", []string{"Origin", "https://evil.example"}, 403, "cross-origin"},
	}
	for _, c := range cases {
		s := newStand(t, nil)
		res, body := s.do(c.method, c.path, "", c.headers...)
		if res.StatusCode != c.status || !strings.Contains(body, c.contains) || s.upstream.count() != 0 {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.headers, res.StatusCode, body)
		}
		if c.status == http.StatusMethodNotAllowed && res.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	s := newStand(t, nil)
	s.room.status = offered
	if res, body := s.do("GET", "/_foyer/final/status", ""); res.StatusCode != 200 || !strings.Contains(body, `"state":"offered"`) {
		t.Errorf("offered: %d %s", res.StatusCode, body)
	}
}

func TestJoin_GivesAnAppItsTokenBothWays(t *testing.T) {
	s := newStand(t, nil)
	res, _ := s.do("POST", "/_foyer/final/join", "")
	if res.Header.Get("Foyer-Token") != "fresh" || !strings.HasPrefix(res.Header.Get("Set-Cookie"), "foyer-final=fresh;") {
		t.Errorf("an app got %v", res.Header)
	}
	res, _ = s.do("POST", "/_foyer/final/join", "", "Origin", s.server.URL)
	if res.Header.Get("Foyer-Token") != "" || res.Header.Get("Set-Cookie") == "" {
		t.Errorf("a browser's script could read its token: %v", res.Header)
	}
}

func TestJoins_AreLimitedByNetwork(t *testing.T) {
	s := newStand(t, func(s *Settings) { s.JoinsPerAddress = 2 })
	for i, want := range []int{429, 429, 429} {
		res, body := s.do("GET", "/sale", "")
		if limited := strings.Contains(body, "urn:foyer:rate-limited"); res.StatusCode != want || limited != (i == 2) {
			t.Errorf("join %d: %d %s", i, res.StatusCode, body)
		}
	}
	if res, body := s.do("GET", "/sale", "", "Cookie", "foyer-final=queue"); strings.Contains(body, "rate-limited") {
		t.Errorf("somebody in line was limited: %d", res.StatusCode)
	}
	if res, _ := s.do("POST", "/_foyer/final/join", ""); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a join by call: %d", res.StatusCode)
	}
}

func TestSwap_KeepsTheBudgetOfNetworks(t *testing.T) {
	var settings Settings
	s := newStand(t, func(s *Settings) { s.JoinsPerAddress = 1; settings = *s })
	s.do("GET", "/sale", "")
	if err := s.edge.Swap(settings); err != nil {
		t.Fatal(err)
	}
	if _, body := s.do("GET", "/sale", ""); !strings.Contains(body, "rate-limited") {
		t.Errorf("a reload forgot who has joined: %s", body)
	}
	settings.JoinsPerAddress = 2
	if err := s.edge.Swap(settings); err != nil {
		t.Fatal(err)
	}
	if _, body := s.do("GET", "/sale", ""); strings.Contains(body, "rate-limited") {
		t.Errorf("the new limit does not hold: %s", body)
	}
}

func TestLimiter_ForgetsButNeverGrows(t *testing.T) {
	l, now := newLimiter(1), time.Now()
	for i := range 3 * maxBuckets {
		b := [4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}
		if !l.allow(client{addr: netip.AddrFrom4(b)}.group(), now) {
			t.Fatalf("network %d was refused its first join", i)
		}
	}
	if len(l.young) > maxBuckets || len(l.old) > maxBuckets {
		t.Errorf("%d and %d networks are remembered", len(l.young), len(l.old))
	}
	last := client{addr: netip.AddrFrom4([4]byte{0xff, 0, 0, 1})}.group()
	if !l.allow(last, now) || l.allow(last, now.Add(time.Second)) || !l.allow(last, now.Add(time.Minute)) {
		t.Error("one join a minute is not what is allowed")
	}
}

func TestBypass_ForwardsWithoutCounting(t *testing.T) {
	s := newStand(t, func(s *Settings) {
		s.Gates[0].Bypass = []Bypass{
			{}, {HeaderName: "X-Empty"}, {Paths: []string{"/sale/assets/**"}}, {Methods: []string{"POST"}, Paths: []string{"/sale/hook"}},
			{HeaderName: "X-Staff-Key", HeaderValue: "secret"},
		}
	})
	for _, c := range []struct {
		method, path string
		headers      []string
		passes       bool
	}{
		{"GET", "/sale/assets/x.css", nil, true}, {"GET", "/sale/assets/../x", nil, false}, {"POST", "/sale/hook", nil, true},
		{"GET", "/sale/hook", nil, false}, {"GET", "/sale", []string{"X-Staff-Key", "secret"}, true},
		{"GET", "/sale", []string{"X-Staff-Key", "secre"}, false}, {"GET", "/sale", []string{"X-Empty", ""}, false}, {"GET", "/sale", nil, false},
	} {
		if res, _ := s.do(c.method, c.path, "", c.headers...); (res.StatusCode == http.StatusOK) != c.passes {
			t.Errorf("%s %s %v: %d", c.method, c.path, c.headers, res.StatusCode)
		}
	}
	s.do("GET", "/sale/assets/x.css", "", "Cookie", "foyer-final=queue")
	if len(s.room.noted) != 1 || s.upstream.last().Header.Get("X-Foyer-Visitor") != "visitor-2" {
		t.Errorf("noted %v", s.room.noted)
	}
}

func TestAlways_IsServedBeforeAnyGate(t *testing.T) {
	s := newStand(t, func(s *Settings) {
		s.Always = []Route{{Method: "POST", Path: "/webhooks/*", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			respondText(w, r.URL.Path+r.Header.Get("Cookie"))
		})}}
		s.Gates[0].Match = Match{}
	})
	if res, body := s.do("POST", "//webhooks/x", "", "Cookie", "foyer-final=pass"); res.StatusCode != 200 || body != "/webhooks/x" {
		t.Errorf("got %d %q", res.StatusCode, body)
	}
	if res, _ := s.do("GET", "/webhooks/x", ""); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("another method: %d", res.StatusCode)
	}
}

func TestSwap_JudgesLaterRequestsByTheNewSettings(t *testing.T) {
	s := newStand(t, nil)
	old := s.edge.table.Load()
	next := Settings{Gates: []Gate{old.gates[0].Gate}}
	next.Gates[0].Match = Match{Paths: []string{"/elsewhere"}}
	if err := s.edge.Swap(next); err != nil {
		t.Fatal(err)
	}
	if s.edge.table.Load().gates[0].upstream != old.gates[0].upstream {
		t.Error("the open connections were given up")
	}
	if res, _ := s.do("GET", "/sale", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the old path: %d", res.StatusCode)
	}
	if wrong := (Settings{Gates: []Gate{{Name: "x"}}}).Check(); wrong == nil || next.Check() != nil {
		t.Errorf("Check says %v of a gate without a room and %v of a good one", wrong, next.Check())
	}
	if err := s.edge.Swap(Settings{Gates: []Gate{{Name: "x"}}}); err == nil {
		t.Error("a gate without a room was taken")
	}
	if res, _ := s.do("GET", "/elsewhere", "", "Cookie", "foyer-final=pass"); res.StatusCode != http.StatusOK {
		t.Errorf("the new path: %d", res.StatusCode)
	}
}
