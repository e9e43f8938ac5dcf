package main

import (
	"net/http"
	"os"
	"testing"
	"time"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy"
)

// parse reads a configuration that must be right.
func parse(t *testing.T, yaml string) *config.Config {
	t.Helper()
	cfg, report := config.Parse("foyer.yaml", []byte(yaml), os.LookupEnv)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

const gateYAML = `
tokens: {leeway: 2s}
gates:
  - name: shop
    match: {hosts: ["*.example.com"], paths: [/sale/**]}
    upstream: http://127.0.0.1:3000
    capacity: 7
    admit_rate: 90
    opens_at: 2026-12-01T10:00:00Z
    closes_at: 2026-12-01T12:00:00Z
    session: {idle: 3m, max: 16m, claim: 21s, inflight: 9}
    queue: {max: 11, keep: 3h, returns: 4, poll: {min: 3s, max: 31s}}
    mode: shadow
    bypass:
      - {paths: [/assets/**], methods: [GET]}
      - {cidrs: [192.0.2.0/24]}
      - {header: {name: X-Staff-Key, value: let-me-in-please}}
    page: {title: Sale, languages: [de], status: 503}
    cookie: {secure: true, samesite: strict}
  - {name: tickets, upstream: origin, capacity: 3}
upstreams:
  http://127.0.0.1:3000: {timeout: 12s, max_idle_conns: 34, preserve_host: false}
origin:
  hold_ttl: 4m
  events:
    - {id: final, name: Final, capacity: 10, price: {amount: 12000, currency: eur}, max_per_buyer: 3}
`

func TestRules_CarryEveryKeyOfAGate(t *testing.T) {
	cfg := parse(t, gateYAML)
	opens := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	want := admission.Rules{
		Capacity: 7, AdmitRate: 90, Mode: admission.ModeShadow, OpensAt: opens, ClosesAt: opens.Add(2 * time.Hour),
		Idle: 3 * time.Minute, Max: 16 * time.Minute, Claim: 21 * time.Second, QueueMax: 11, Keep: 3 * time.Hour, Returns: 4,
		PollMin: 3 * time.Second, PollMax: 31 * time.Second, Leeway: 2 * time.Second,
	}
	got := rules(cfg.Gates[0], cfg.Tokens.Leeway, holdTTL(cfg, cfg.Gates[0]))
	got.OpensAt, got.ClosesAt = got.OpensAt.UTC(), got.ClosesAt.UTC()
	if got != want {
		t.Errorf("rules %+v\nwant  %+v", got, want)
	}
	if hold := holdTTL(cfg, cfg.Gates[1]); hold != 4*time.Minute {
		t.Errorf("the gate of the shop carries holds of %v, want 4m", hold)
	}
}

func TestEdgeGates_CarryEveryKeyOfAGate(t *testing.T) {
	cfg := parse(t, gateYAML)
	rooms := []room{{Gate: cfg.Gates[0]}, {Gate: cfg.Gates[1]}}
	gates, err := edgeGates(cfg, rooms, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	shop, tickets := gates[0], gates[1]
	if shop.Upstream.URL.String() != "http://127.0.0.1:3000" || shop.Upstream.Timeout != 12*time.Second ||
		shop.Upstream.MaxIdleConns != 34 || shop.Upstream.PreserveHost {
		t.Errorf("upstream %+v", shop.Upstream)
	}
	if len(shop.Bypass) != 3 || shop.Bypass[2].HeaderName != "X-Staff-Key" || shop.Bypass[2].HeaderValue != "let-me-in-please" {
		t.Errorf("bypass %+v", shop.Bypass)
	}
	if shop.Cookie != (proxy.Cookie{Secure: proxy.SecureAlways, SameSite: http.SameSiteStrictMode}) {
		t.Errorf("cookie %+v", shop.Cookie)
	}
	if shop.Page.Title != "Sale" || shop.Page.Status != 503 || shop.Match.Hosts[0] != "*.example.com" || len(shop.Ungated) != 0 {
		t.Errorf("gate %+v", shop)
	}
	if tickets.Upstream.Handler == nil || len(tickets.Ungated) != 3 {
		t.Errorf("the gate of the shop has upstream %+v, ungated %q", tickets.Upstream, tickets.Ungated)
	}
}

func TestOriginEvent_CarriesEveryKeyOfAnEvent(t *testing.T) {
	event := originEvent(parse(t, gateYAML).Origin.Events[0])
	if event.ID != "final" || event.Name != "Final" || event.Capacity != 10 || event.Amount != 12000 || event.Currency != "eur" || event.MaxPerBuyer != 3 {
		t.Errorf("event %+v", event)
	}
}
