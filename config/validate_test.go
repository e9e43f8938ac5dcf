package config

import (
	"slices"
	"strings"
	"testing"
)

// problems validates a configuration that was made in Go, as if every key of it had been read.
func problems(change func(*Config)) []string {
	cfg := Default()
	gate, shop := DefaultGate(), DefaultOrigin()
	gate.Name, gate.Upstream, gate.Capacity = "a", UpstreamOrigin, 1
	shop.Events = []Event{{ID: "x", Capacity: 1, Price: Price{1, "eur"}, MaxPerBuyer: 1}}
	cfg.Gates, cfg.Origin = []Gate{gate}, &shop
	change(&cfg)
	n := newNotes(newSource("f", ""))
	(&validator{notes: n, cfg: &cfg}).validate()
	var keys []string
	for _, p := range n.problems {
		keys = append(keys, p.Key)
	}
	return keys
}

// TestValidate_RefusesWhatDoesNotFitTogether checks each rule that concerns more than one value, alone.
func TestValidate_RefusesWhatDoesNotFitTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"nothing wrong":             {func(*Config) {}, nil},
		"admin on the edge's port":  {func(c *Config) { c.Server.Admin = "127.0.0.1:8080" }, []string{"server.admin"}},
		"two ports of the system's": {func(c *Config) { c.Server.Listen, c.Server.Admin = ":0", "[::1]:0" }, nil},
		"admin for everyone":        {func(c *Config) { c.Server.Admin = ":9090" }, []string{"server.admin"}},
		"admin with a token":        {func(c *Config) { c.Server.Admin, c.Server.AdminToken = ":9090", "t" }, nil},
		"admin on localhost":        {func(c *Config) { c.Server.Admin = "localhost:9090" }, nil},
		"no port":                   {func(c *Config) { c.Server.Listen = "127.0.0.1" }, []string{"server.listen"}},
		"a port out of range":       {func(c *Config) { c.Server.Listen = ":65536" }, []string{"server.listen"}},
		"half a certificate":        {func(c *Config) { c.Server.TLS.Key = "k.pem" }, []string{"server.tls"}},
		"no ledger":                 {func(c *Config) { c.Store.SQLite = "" }, []string{"store.sqlite"}},
		"Redis without a key":       {func(c *Config) { c.Store.Redis = "redis://h" }, []string{"tokens.keys"}},
		"Redis by another scheme":   {func(c *Config) { c.Store.Redis = "http://h" }, []string{"store.redis"}},
		"atomic_redis alone":        {func(c *Config) { c.Origin.Strategy = "atomic_redis" }, []string{"origin.strategy"}},
		"origin without a shop":     {func(c *Config) { c.Origin = nil }, []string{"gates[0].upstream"}},
		"no gate":                   {func(c *Config) { c.Gates = nil }, []string{"gates"}},
		"two gates alike": {func(c *Config) { c.Gates = append(c.Gates, c.Gates[0]); c.Gates[1].Name = "b" },
			[]string{"gates[1]"}},
		"poll the wrong way round": {func(c *Config) { c.Gates[0].Queue.Poll.Min = c.Gates[0].Queue.Poll.Max + 1 },
			[]string{"gates[0].queue.poll"}},
		"stripe without secrets": {func(c *Config) { c.Origin.Payment.Provider = "stripe" },
			[]string{"origin.payment.stripe.secret_key", "origin.payment.stripe.webhook_secrets"}},
		"stripe with secrets": {func(c *Config) {
			c.Origin.Payment.Provider, c.Origin.Payment.Stripe = "stripe", Stripe{SecretKey: "k", WebhookSecrets: []Secret{"w"}}
		}, nil},
		"stripe with an empty secret": {func(c *Config) {
			c.Origin.Payment.Provider, c.Origin.Payment.Stripe = "stripe", Stripe{SecretKey: "k", WebhookSecrets: []Secret{""}}
		}, []string{"origin.payment.stripe.webhook_secrets[0]"}},
		"everything bypassed": {func(c *Config) { c.Gates[0].Bypass = []Bypass{{}} }, []string{"gates[0].bypass[0]"}},
		"cookies for all sites, in the clear": {func(c *Config) { c.Gates[0].Cookie = Cookie{Secure: "false", SameSite: "none"} },
			[]string{"gates[0].cookie.samesite"}},
		"no language": {func(c *Config) { c.Gates[0].Page.Languages = nil }, []string{"gates[0].page.languages"}},
		"another language with a template": {func(c *Config) { c.Gates[0].Page = Page{Template: "p", Languages: []string{"pt-BR"}} },
			nil},
	} {
		if got := problems(tc.change); !slices.Equal(got, tc.want) {
			t.Errorf("%s: problems with %v, want %v", name, got, tc.want)
		}
	}
}

func TestPathPattern_AcceptsWhatTheEdgeCanMatch(t *testing.T) {
	for _, pattern := range []string{"/", "/**", "**", "**/x", "/a", "/a/", "/a/**", "/a/*/b", "/**/b.js", "/straße", "/a b", "/a*b", "/.well-known/x"} {
		if got := problems(func(c *Config) { c.Gates[0].Match.Paths = []string{pattern} }); got != nil {
			t.Errorf("%q is refused: %v", pattern, got)
		}
	}
	for _, pattern := range []string{"", "a", "*", "/a//b", "/a/../b", "/./a", "/..", "/a?b", "/a#", "/%41", `/a\b`, "/a;b", "/***", "/a\n", "//"} {
		if got := problems(func(c *Config) { c.Gates[0].Match.Paths = []string{pattern} }); len(got) != 1 {
			t.Errorf("%q is accepted", pattern)
		}
	}
}

func TestCovers_KnowsWhichGateIsNeverReached(t *testing.T) {
	match := func(text string) (m Match) {
		hosts, paths, _ := strings.Cut(text, " ")
		if hosts != "any" {
			m.Hosts = strings.Split(hosts, ",")
		}
		if paths != "any" {
			m.Paths = strings.Split(paths, ",")
		}
		return m
	}
	for pair, want := range map[[2]string]bool{
		{"any any", "any any"}:                              true,
		{"any any", "a.test /x"}:                            true,
		{"a.test any", "any any"}:                           false,
		{"any /**", "any any"}:                              true,
		{"*.test any", "a.test any"}:                        true,
		{"*.test any", "test any"}:                          false,
		{"*.a.test any", "*.b.a.test any"}:                  true,
		{"a.test,b.test /x", "b.test,a.test /x"}:            true,
		{"any /a/**", "any /a/b/**,/a/c"}:                   true,
		{"any /a/**", "any /a"}:                             true,
		{"any /a/**", "any /ab"}:                            false,
		{"any /a/*", "any /a/b"}:                            false, // covered in truth, but not certain by this simple look
		{"any /a/**", "any /a/**,/b"}:                       false,
		{"a.test /a/**", "a.test /a/b"}:                     true,
		{"a.test /a/**", "b.test /a/b"}:                     false,
		{"tickets.example.com any", "TICKETS.example.com "}: false,
	} {
		if got := covers(match(pair[0]), match(pair[1])); got != want {
			t.Errorf("%q covers %q: %v", pair[0], pair[1], got)
		}
	}
}
