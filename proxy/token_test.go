package proxy

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"foyer/admission"
)

// tokensOf sends a request to a gate that remembers the candidates it is asked about.
func tokensOf(t *testing.T, change func(*Settings), headers ...string) (tokens []string, res *http.Response) {
	t.Helper()
	s := newStand(t, change)
	s.room.visit = func(got []string, _ bool) admission.Verdict {
		tokens = got
		v := waiting()
		v.Token, v.Until = "next", time.Now().Add(time.Minute)
		return v
	}
	res, _ = s.do("GET", "/sale", "", headers...)
	return tokens, res
}

func TestTokens_AllOfTheNameAreCandidates(t *testing.T) {
	secure := func(s *Settings) { s.Gates[0].Cookie.Secure = SecureAlways }
	for name, c := range map[string]struct {
		change  func(*Settings)
		headers []string
		want    string
	}{
		"none":            {nil, nil, ""},
		"one":             {nil, []string{"Cookie", "a=b; foyer-final=one; c=d"}, "one"},
		"two":             {nil, []string{"Cookie", "foyer-final=one; foyer-final=two"}, "one two"},
		"two lines":       {nil, []string{"Cookie", "foyer-final=one", "Cookie", "foyer-final=two"}, "one two"},
		"other gate":      {nil, []string{"Cookie", "foyer-other=one; foyer-finale=two"}, ""},
		"untrimmed":       {nil, []string{"Cookie", "foyer-final =one; \tfoyer-final=two"}, ""},
		"no value":        {nil, []string{"Cookie", "foyer-final=; foyer-final"}, ""},
		"equals in value": {nil, []string{"Cookie", "foyer-final=a=b"}, "a=b"},
		"prefix on plain": {nil, []string{"Cookie", "__Host-foyer-final=one"}, ""},
		"plain on secure": {secure, []string{"Cookie", "foyer-final=one; __Host-foyer-final=two"}, "two"},
		"header":          {nil, []string{"Authorization", "Foyer one", "Cookie", "foyer-final=two"}, "one two"},
		"other scheme":    {nil, []string{"Authorization", "Bearer one"}, ""},
		"scheme in lower": {nil, []string{"Authorization", "foyer one"}, "one"},
		"many":            {nil, []string{"Cookie", strings.Repeat("foyer-final=x; ", 50)}, "x x x x x x x x"},
		"twenty kilobyte": {nil, []string{"Cookie", "foyer-final=" + strings.Repeat("x", 20<<10)}, strings.Repeat("x", 20<<10)},
	} {
		if got, res := tokensOf(t, c.change, c.headers...); strings.Join(got, " ") != c.want || res.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: %q, %d", name, got, res.StatusCode)
		}
	}
}

func TestTokens_GoBackTheWayTheyCame(t *testing.T) {
	trusting := func(s *Settings) { s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	strict := func(s *Settings) { s.Gates[0].Cookie = Cookie{Secure: SecureAlways, SameSite: http.SameSiteStrictMode} }
	for name, c := range map[string]struct {
		change         func(*Settings)
		headers        []string
		cookie, header string
	}{
		"browser":      {nil, nil, "foyer-final=next; Path=/; Max-Age=60; HttpOnly; SameSite=Lax", ""},
		"app":          {nil, []string{"Authorization", "Foyer old"}, "", "next"},
		"new app":      {nil, []string{"Authorization", "Foyer"}, "", "next"},
		"forged https": {nil, []string{"X-Forwarded-Proto", "https"}, "foyer-final=next; Path=/; Max-Age=60; HttpOnly; SameSite=Lax", ""},
		"behind https": {trusting, []string{"X-Forwarded-Proto", "https"}, "__Host-foyer-final=next; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax", ""},
		"strict":       {strict, nil, "__Host-foyer-final=next; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict", ""},
	} {
		_, res := tokensOf(t, c.change, c.headers...)
		if res.Header.Get("Set-Cookie") != c.cookie || res.Header.Get("Foyer-Token") != c.header {
			t.Errorf("%s: cookie %q, header %q", name, res.Header.Get("Set-Cookie"), res.Header.Get("Foyer-Token"))
		}
	}
}

// Whatever cookies arrive, an upstream sees all that are not ours, and none that is.
func FuzzHideTokens(f *testing.F) {
	f.Add("a=b; foyer-final=t; c", "Foyer x")
	f.Add("foyer-final=1;foyer-final=2 ; __Host-foyer-final=3;;=;", "Basic x")
	f.Fuzz(func(t *testing.T, cookies, authorization string) {
		table := &table{cookies: map[string]bool{"foyer-final": true, "__Host-foyer-final": true}}
		h := http.Header{"Cookie": {cookies}, "Authorization": {authorization}}
		table.hideTokens(h)
		eachCookie(h, func(name, _ string) bool {
			if table.cookies[strings.TrimSpace(name)] {
				t.Fatalf("%q leaves %q", cookies, h["Cookie"])
			}
			return true
		})
		if _, ours := schemeToken(h.Get("Authorization")); ours {
			t.Fatalf("%q leaves %q", authorization, h.Get("Authorization"))
		}
		again := h.Clone()
		table.hideTokens(again)
		if strings.Join(again["Cookie"], "|") != strings.Join(h["Cookie"], "|") {
			t.Fatalf("%q is not stable: %q, %q", cookies, h["Cookie"], again["Cookie"])
		}
	})
}
