package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// cachingNginx stands in front of foyer and stores whatever it is allowed to.
func cachingNginx(t *testing.T, edge string) string {
	t.Helper()
	folder := t.TempDir()
	return nginxIn(t, folder, fmt.Sprintf("proxy_cache_path %s/cache keys_zone=all:1m;", folder), fmt.Sprintf(`
		location / {
			proxy_pass %s;
			proxy_set_header Host shop;
			proxy_cache all;
			proxy_cache_key $request_uri;
			proxy_cache_methods GET HEAD POST;
			proxy_cache_valid any 10m;
			add_header X-Cache $upstream_cache_status always;
		}`, edge))
}

// TestCache_ShowsNobodyAnothersPlace is D9: behind a cache that stores all it may, each visitor sees his own.
func TestCache_ShowsNobodyAnothersPlace(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=600")
		fmt.Fprint(w, "for ", r.Header.Get("X-Foyer-Ticket"))
	}))
	defer upstream.Close()
	s := serve(t, movable(upstream.URL, 1, keyOne, "")+"    bypass: [{paths: [/assets/**]}]\n")
	cache := cachingNginx(t, s.Edge)

	first, second, third := newPerson(cache, true), newPerson(cache, true), newPerson(cache, true)
	if got := first.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK); got.Text != "for 1" {
		t.Errorf("the first visitor sees %q", got.Text)
	}
	waits := func(p *person, ticket int) {
		t.Helper()
		page := p.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusOK)
		if page.Header.Get("X-Cache") == "HIT" || page.Header.Get("Refresh") == "" {
			t.Errorf("ticket %d gets, from the cache %q: %.200s", ticket, page.Header.Get("X-Cache"), page.Text)
		}
		status := p.ask(t, http.MethodGet, "/_foyer/shop/status", "").want(t, http.StatusOK)
		var says struct{ Ticket int }
		if err := json.Unmarshal([]byte(status.Text), &says); err != nil || says.Ticket != ticket || status.Header.Get("X-Cache") == "HIT" {
			t.Errorf("the status of ticket %d, from the cache %q: %s", ticket, status.Header.Get("X-Cache"), status.Text)
		}
	}
	for range 2 {
		waits(second, 2)
		waits(third, 3)
	}
	for range 2 { // nobody's refusal, problem or token is kept either
		problem := newPerson(cache, false).ask(t, http.MethodGet, "/sale", "").want(t, http.StatusTooManyRequests)
		if problem.Header.Get("X-Cache") == "HIT" || len(problem.Cookies()) == 0 {
			t.Errorf("a new visitor gets, from the cache %q, the cookies %v", problem.Header.Get("X-Cache"), problem.Cookies())
		}
	}

	// The control: what the storefront gives to everybody the cache does store.
	first.ask(t, http.MethodGet, "/assets/a.css", "").want(t, http.StatusOK)
	if got := second.ask(t, http.MethodGet, "/assets/a.css", ""); got.Header.Get("X-Cache") != "HIT" {
		t.Errorf("an asset comes from the cache %q", got.Header.Get("X-Cache"))
	}
}
