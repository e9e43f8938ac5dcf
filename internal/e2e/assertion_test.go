package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foyer/proxy/assertion"
)

// signs is what an upstream behind a checker has learned.
type signs struct {
	*httptest.Server
	check assertion.Checker
	last  assertion.Claims
}

// checked is an upstream that lets through only what foyer has forwarded.
func checked(t *testing.T) *signs {
	t.Helper()
	s := &signs{}
	shop := s.check.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.last, _ = assertion.From(r.Context())
	}))
	s.Server = httptest.NewServer(shop)
	s.check.Upstream = s.URL
	s.check.Refused = func(r *http.Request, err error) { t.Logf("%s %s refused: %v", r.Method, r.RequestURI, err) }
	t.Cleanup(s.Close)
	return s
}

// visit sends a visitor through the gate and round it.
func (s *signs) visit(t *testing.T, edge string) {
	t.Helper()
	p := newPerson(edge, false)
	p.ask(t, http.MethodGet, "/sale/a%20b?seats=2", "").want(t, http.StatusOK)
	if s.last.Gate != "shop" || s.last.Ticket != 1 || s.last.Visitor == "" || s.last.Via != assertion.ViaPass {
		t.Errorf("of a visitor inside the upstream learns %+v", s.last)
	}
	p.ask(t, http.MethodPost, "//sale/./pay", "card").want(t, http.StatusOK) // bound to what the upstream sees
	p.ask(t, http.MethodGet, "/assets/a.css", "").want(t, http.StatusOK)
	if s.last.Via != assertion.ViaBypass {
		t.Errorf("of what bypasses the gate it learns %+v", s.last)
	}
	if got := newPerson(s.URL, false).ask(t, http.MethodGet, "/sale", "", "X-Foyer-Ticket", "1"); got.StatusCode != http.StatusForbidden {
		t.Errorf("who goes round foyer gets %d", got.StatusCode)
	}
}

func TestAssertion_AnUpstreamBelievesOnlyFoyer(t *testing.T) {
	const bypass = "    bypass: [{paths: [/assets/**]}]\n"
	t.Run("secret", func(t *testing.T) {
		shop := checked(t)
		s := serve(t, movable(shop.URL, 3, keyOne, "")+bypass)
		stdout, stderr, code := foyer(t, "keys", "upstream", shop.URL, "--config", s.File)
		id, secret, found := strings.Cut(strings.TrimSpace(stdout), " ")
		if code != 0 || !found || id != "one" {
			t.Fatalf("foyer keys upstream: %d %q %s", code, stdout, stderr)
		}
		shop.check.Secrets = map[string]string{id: secret}
		shop.visit(t, s.Edge)
	})
	t.Run("key pair", func(t *testing.T) {
		shop, folder := checked(t), t.TempDir()
		key := filepath.Join(folder, "key.pem")
		if _, stderr, code := foyer(t, "keys", "generate", "--ed25519", "--out", key); code != 0 {
			t.Fatal(stderr)
		}
		if _, err := os.Stat(key); err != nil {
			t.Fatal(err)
		}
		s := serve(t, movable(shop.URL, 3, `{id: pair, ed25519_file: "`+key+`"}`, "")+bypass)
		shop.check.JWKS = s.Edge + "/_foyer/jwks.json"
		shop.visit(t, s.Edge)
	})
}
