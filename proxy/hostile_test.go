package proxy

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// D4: each of these is matched by the gate, or is refused, or is a different path for the upstream too.
func TestEdge_NoPathSlipsPastItsGate(t *testing.T) {
	for _, target := range []string{
		"//sale", "/static/../sale", "/x%2f..%2fsale", "/%73ale", "/SALE", "/sale;x=1", "/sale%00", `/static\..\sale`,
		"http://shop/sale", "http://shop//sale", "/static/%2e%2e/sale", "/static/..%2fsale", "/./sale", "/sale/.", "/%2fsale",
		"/sale%20", "/sale%2e", "/sale%3f", "/sale%23", "/sale%3b", "/sal%65/x", "/static/%252e%252e/sale", "/;/sale", "/x/..;/sale",
		"*", "/sale\t", "/%c0%afsale", "/sale?x=/../y",
	} {
		// Everything is let through by the last gate; whoever the gate of the sale is asked for must wait.
		s := newStand(t, func(s *Settings) {
			open := s.Gates[0]
			open.Name, open.Match, open.Room = "default", Match{}, &fakeRoom{}
			open.Bypass = []Bypass{{Methods: []string{"GET"}}}
			s.Gates = append(s.Gates, open)
		})
		res, body := s.raw("GET " + target + " HTTP/1.1\r\nHost: SHOP.:80\r\nConnection: close\r\n\r\n")
		switch res.StatusCode {
		case http.StatusBadRequest:
		case http.StatusTooManyRequests:
			if s.room.joined != 1 {
				t.Errorf("%s: waits, but not in the gate's line: %s", target, body)
			}
		case http.StatusOK:
			saw := s.upstream.last().URL.Path
			if strings.EqualFold(saw, "/sale") && saw != "/SALE" || strings.HasPrefix(saw, "/sale/") || strings.Contains(saw, "..") {
				t.Errorf("%s: the upstream saw %s", target, saw)
			}
			if host := s.upstream.last().Host; host != "shop" {
				t.Errorf("%s: the upstream saw host %s", target, host)
			}
		default:
			t.Errorf("%s: status %d", target, res.StatusCode)
		}
	}
}

// D5: what could make two readers of one connection is refused, or taken out of the request.
func TestEdge_RefusesWhatIsReadInTwoWays(t *testing.T) {
	const host, pass = "Host: shop\r\n", "Cookie: foyer-final=pass\r\nConnection: close\r\n"
	for name, request := range map[string]string{
		"connect":             "CONNECT shop:80 HTTP/1.1\r\n" + host + pass + "\r\n",
		"connect to a path":   "CONNECT /sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"trace":               "TRACE /sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"unknown method":      "BREW /sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"lower case":          "get /sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"webdav":              "PROPFIND /sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"two hosts":           "GET /sale HTTP/1.1\r\n" + host + "Host: other\r\n" + pass + "\r\n",
		"no host":             "GET /sale HTTP/1.1\r\n" + pass + "\r\n",
		"bad host":            "GET /sale HTTP/1.1\r\nHost: a/b\r\n" + pass + "\r\n",
		"two lengths":         "POST /sale HTTP/1.1\r\n" + host + pass + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"two equal lengths":   "POST /sale HTTP/1.1\r\n" + host + pass + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
		"length and encoding": "POST /sale HTTP/1.1\r\n" + host + pass + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"encoding and length": "POST /sale HTTP/1.1\r\n" + host + pass + "transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n",
		"two encodings":       "POST /sale HTTP/1.1\r\n" + host + pass + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"encoding in 1.0":     "POST /sale HTTP/1.0\r\n" + host + pass + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"folded header":       "GET /sale HTTP/1.1\r\n" + host + pass + "X-A: b\r\n Content-Length: 5\r\n\r\n",
		"length with a sign":  "POST /sale HTTP/1.1\r\n" + host + pass + "Content-Length: +1\r\n\r\na",
		"unknown encoding":    "POST /sale HTTP/1.1\r\n" + host + pass + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"space before colon":  "POST /sale HTTP/1.1\r\n" + host + pass + "Content-Length : 5\r\n\r\nabcde",
		"ftp":                 "GET ftp://shop/sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"user in the target":  "GET http://a@shop/sale HTTP/1.1\r\n" + host + pass + "\r\n",
		"http/2 in the clear": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, nil)
			res, body := s.raw(request)
			if code := res.StatusCode; code != 400 && code != 405 && code != 501 && code != 505 {
				t.Errorf("status %d %s", code, body)
			}
			if s.upstream.count() != 0 {
				t.Error("the upstream has seen it")
			}
			if res.StatusCode == 405 && res.Header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestEdge_RefusesConnectOverHTTP2(t *testing.T) {
	s := newStand(t, nil)
	server := httptest.NewUnstartedServer(s.edge)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := server.Client().Transport.(*http.Transport)
	transport.TLSClientConfig.MinVersion = tls.VersionTLS12
	r, err := http.NewRequestWithContext(t.Context(), "CONNECT", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != http.StatusMethodNotAllowed || s.upstream.count() != 0 {
		t.Errorf("%s %d, %d requests upstream", res.Proto, res.StatusCode, s.upstream.count())
	}
}

// D5, D6: the upstream sees only what the proxy has set.
func TestEdge_DropsWhatAClientMayNotSay(t *testing.T) {
	s := newStand(t, nil)
	res, body := s.raw(strings.ReplaceAll(`GET /sale HTTP/1.1
Host: shop
Cookie: foyer-final=pass; __Host-foyer-final=x
Authorization: Foyer abc
Authorization: Basic eA==
X-Foyer-Ticket: 1
X_Foyer_Ticket: 1
x.foyer.visitor: a
Foyer-Command: release
Upgrade: h2c
HTTP2-Settings: AAMAAABkAAQAAP__
X-HTTP-Method-Override: DELETE
X-Original-URL: /admin
X-Rewrite-URL: /admin
X-Forwarded-For: 1.2.3.4
X-Forwarded-Proto: https
X-Forwarded-Port: 443
X-Real-IP: 1.2.3.4
Forwarded: for=1.2.3.4
Connection: X-Foyer-Visitor, X-Forwarded-For, Upgrade, HTTP2-Settings, close
X-Mine: kept

`, "\n", "\r\n"))
	if res.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s", res.StatusCode, body)
	}
	want := map[string]string{
		"X-Foyer-Visitor": "visitor-1", "X-Foyer-Ticket": "7", "X-Foyer-Gate": "final", "X-Forwarded-For": "127.0.0.1",
		"X-Forwarded-Host": "shop", "X-Forwarded-Proto": "http", "X-Mine": "kept", "Authorization": "Basic eA==",
	}
	for name, values := range s.upstream.last().Header {
		if want[name] != strings.Join(values, "|") {
			t.Errorf("the upstream saw %s: %q", name, values)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("the upstream did not see %s", name)
	}
}

func TestTrace_BelievesTrustedProxiesFromTheRight(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		remote, proto string
		forwarded     []string
		addr, chain   string
		secure        bool
	}{
		"untrusted peer":   {"192.0.2.1:5", "https", []string{"1.2.3.4"}, "192.0.2.1", "192.0.2.1", false},
		"one proxy":        {"10.0.0.1:5", "https", []string{"1.2.3.4"}, "1.2.3.4", "1.2.3.4, 10.0.0.1", true},
		"forged in front":  {"10.0.0.1:5", "http", []string{"9.9.9.9, 1.2.3.4"}, "1.2.3.4", "1.2.3.4, 10.0.0.1", false},
		"two proxies":      {"10.0.0.1:5", "", []string{"9.9.9.9, 1.2.3.4", "10.0.0.2"}, "1.2.3.4", "1.2.3.4, 10.0.0.2, 10.0.0.1", false},
		"nothing":          {"10.0.0.1:5", "", nil, "10.0.0.1", "10.0.0.1", false},
		"unreadable":       {"10.0.0.1:5", "", []string{"1.2.3.4, junk"}, "10.0.0.1", "10.0.0.1", false},
		"mapped":           {"[::ffff:10.0.0.1]:5", "", []string{"::ffff:1.2.3.4"}, "1.2.3.4", "1.2.3.4, 10.0.0.1", false},
		"forged https":     {"10.0.0.1:5", "https, http", []string{"1.2.3.4"}, "1.2.3.4", "1.2.3.4, 10.0.0.1", false},
		"proxy on ipv6":    {"[fd00::1]:5", "HTTPS", []string{"2001:db8::1"}, "2001:db8::1", "2001:db8::1, fd00::1", true},
		"everyone trusted": {"10.0.0.1:5", "", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3", "10.0.0.3, 10.0.0.2, 10.0.0.1", false},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		got := trace(r, trusted)
		if got.addr.String() != c.addr || got.chain() != c.chain || got.secure != c.secure {
			t.Errorf("%s: %s, chain %s, secure %v", name, got.addr, got.chain(), got.secure)
		}
	}
}

func FuzzForwardedChain(f *testing.F) {
	f.Add("1.2.3.4, 10.0.0.1", "::1")
	f.Add(",,,", strings.Repeat("10.0.0.1,", 100))
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, one, two string) {
		got := trace(&http.Request{RemoteAddr: "10.0.0.1:5", Header: http.Header{"X-Forwarded-For": {one, two}}}, trusted)
		if !got.addr.IsValid() || len(got.hops) > maxHops || !got.group().IsValid() {
			t.Fatalf("%+v", got)
		}
		for _, hop := range got.hops {
			if !trusted[0].Contains(hop) {
				t.Fatalf("%s is not trusted", hop)
			}
		}
	})
}
