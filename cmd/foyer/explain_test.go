package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const explainYAML = `
server: {trusted_proxies: [10.0.0.0/8]}
gates:
  - name: shop
    match: {hosts: [tickets.example.com], paths: [/sale/**]}
    upstream: origin
    capacity: 7
    bypass: [{paths: [/sale/assets/**]}, {cidrs: [192.0.2.0/24]}]
  - {name: default, upstream: "http://127.0.0.1:3000", capacity: 2, mode: "off"}
origin: {events: [{id: final, capacity: 10, price: {amount: 100, currency: eur}}]}
`

func TestExplain_SaysWhichGateAndWhy(t *testing.T) {
	const sale = "https://tickets.example.com/sale"
	for name, tc := range map[string]struct {
		args []string
		want explained
	}{
		"gated":      {[]string{"GET", sale}, explained{Verdict: "gated", Gate: "shop", Host: "tickets.example.com", Path: "/sale", Cookie: "__Host-foyer-shop"}},
		"canonical":  {[]string{"GET", "http://TICKETS.example.com.:80//x/../sale?a=1"}, explained{Verdict: "gated", Gate: "shop", Host: "tickets.example.com", Path: "/sale", Cookie: "foyer-shop"}},
		"bypass":     {[]string{"GET", sale + "/assets/x.js"}, explained{Verdict: "bypass", Bypass: 1, Gate: "shop", Path: "/sale/assets/x.js"}},
		"by address": {[]string{"GET", sale, "--from", "192.0.2.7"}, explained{Verdict: "bypass", Bypass: 2, Gate: "shop", Path: "/sale"}},
		"by a proxy": {[]string{"GET", sale, "--from", "10.0.0.1", "-H", "X-Forwarded-For: 192.0.2.7"}, explained{Verdict: "bypass", Bypass: 2, Gate: "shop", Path: "/sale"}},
		"by header":  {[]string{"GET", "/sale", "-H", "Host: tickets.example.com"}, explained{Verdict: "gated", Gate: "shop", Path: "/sale"}},
		"the rest":   {[]string{"GET", "/sale"}, explained{Verdict: "gated", Gate: "default", Path: "/sale", Host: "localhost"}},
		"ambiguous":  {[]string{"GET", sale + "/x%2f..%2fy"}, explained{Verdict: "refused", Status: 400}},
		"no request": {[]string{"GET", sale + "/x y"}, explained{Verdict: "refused", Status: 400}},
		"own":        {[]string{"GET", "/_foyer/shop/status"}, explained{Verdict: "own", Gate: "shop", Path: "/_foyer/shop/status"}},
		"a webhook":  {[]string{"POST", "/webhooks/simulator"}, explained{Verdict: "always", Path: "/webhooks/simulator"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, explainYAML, append([]string{"explain", "--json"}, tc.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			var got explained
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			want := tc.want
			if got.Verdict != want.Verdict || got.Gate != want.Gate || got.Status != want.Status || got.Bypass != want.Bypass ||
				got.Path != want.Path || want.Host != "" && got.Host != want.Host || want.Cookie != "" && got.Cookie != want.Cookie {
				t.Errorf("got %s", out)
			}
		})
	}
}

func TestExplain_TellsPeople(t *testing.T) {
	out, err := command(t, explainYAML, "explain", "GET", "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"default, by any host, any path", "shop: another host", "http://127.0.0.1:3000, as /elsewhere", "gated", "everyone"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, args := range [][]string{{"GET", "/", "--from", "here"}, {"GET", "ftp://x/"}, {"GET", "/a\r\nX: y"}} {
		if _, err := command(t, explainYAML, append([]string{"explain"}, args...)...); exitCode(err) != exitMisuse {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestExplain_RefusesAHeaderThatIsNone(t *testing.T) {
	for _, header := range []string{"nonsense", "", ": value", "a b: c", "X-Staff\r\nKey: a", "X-Staff-Key: a\r\nHost: b"} {
		_, err := command(t, explainYAML, "explain", "GET", "/sale", "-H", header)
		if exitCode(err) != exitMisuse || !strings.Contains(err.Error(), "-H") || !strings.Contains(err.Error(), "'Name: value'") {
			t.Errorf("%q: %v", header, err)
		}
	}
	for _, header := range []string{"X-Staff-Key:a", "X-Staff-Key:", "host: tickets.example.com"} {
		if out, err := command(t, explainYAML, "explain", "GET", "/sale", "-H", header); err != nil {
			t.Errorf("%q: %v\n%s", header, err, out)
		}
	}
}
