package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const running = `
server: {listen: ":8080", log: {level: info}}
store: {redis: "redis://:swordfish@127.0.0.1/0"}
tokens: {keys: [{id: "1", secret: 0123456789abcdef0123456789abcdef}]}
gates: [{name: shop, upstream: origin, capacity: 7}]
origin:
  hold_ttl: 1m
  events: [{id: final, capacity: 10, price: {amount: 100, currency: eur}}]
`

// reloaded reads the running configuration and then, in its place, one in which old is replaced by new.
func reloaded(t *testing.T, pairs ...string) (*Config, Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foyer.yaml")
	write(t, path, running)
	cfg, report := Load(path)
	if !report.OK() {
		t.Fatal(report)
	}
	text := running
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q to replace", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Reload(path, cfg)
}

func TestReload_RefusesWhatCannotChange(t *testing.T) {
	for key, change := range map[string][]string{
		"server.listen":              {`listen: ":8080"`, `listen: ":8081"`},
		"server.admin":               {`listen: ":8080"`, `listen: ":8080", admin: "127.0.0.1:9091"`},
		"server.log.format":          {"level: info", "level: info, format: console"},
		"server.timeouts.drain":      {"log:", "timeouts: {drain: 1s}, log:"},
		"server.limits.connections":  {"log:", "limits: {connections: 10}, log:"},
		"store.redis":                {"swordfish", "sailfish"},
		"store.sqlite":               {"store: {", "store: {sqlite: other.db, "},
		"origin.strategy":            {"hold_ttl: 1m", "hold_ttl: 1m\n  strategy: pessimistic"},
		"origin.hold_ttl":            {"hold_ttl: 1m", "hold_ttl: 2m"},
		"origin.payment.settle":      {"hold_ttl: 1m", "hold_ttl: 1m\n  payment: {settle: 1m}"},
		"origin.payment.simulator":   {"hold_ttl: 1m", "hold_ttl: 1m\n  payment: {simulator: {webhook_secrets: [a]}}"},
		"tokens.keys[0].secret":      {"0123456789abcdef0123456789abcdef", "short"}, // what is wrong in itself is wrong here too
		"gates[0].capacity":          {"capacity: 7", "capacity: 0"},
		"store.state_file":           {"store: {", `store: {state_file: "", `},
		"server.timeouts.write":      {"log:", "timeouts: {write: 1s}, log:"},
		"server.limits.header_bytes": {"log:", "limits: {header_bytes: 1KiB}, log:"},
	} {
		t.Run(key, func(t *testing.T) {
			cfg, report := reloaded(t, change...)
			if cfg != nil || len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0].Key, key) || report.Problems[0].Line < 2 {
				t.Fatalf("got %v", report.Problems)
			}
			if strings.Contains(report.String(), "fish") {
				t.Errorf("a password is shown:\n%s", report)
			}
		})
	}
}

func TestReload_SaysHowToChangeWhatIsFixed(t *testing.T) {
	_, report := reloaded(t, `listen: ":8080"`, `listen: ":8081"`, "swordfish", "sailfish", "hold_ttl: 1m", "hold_ttl: 2m")
	if len(report.Problems) != 3 {
		t.Fatalf("got %v", report)
	}
	for _, problem := range report.Problems {
		if !strings.Contains(problem.String(), "cannot change while foyer runs; restart to change it") {
			t.Errorf("got %v", problem)
		}
	}
}

func TestReload_TakesWhatMayChange(t *testing.T) {
	for name, change := range map[string][]string{
		"nothing":         nil,
		"log level":       {"level: info", "level: debug"},
		"a gate's rules":  {"capacity: 7", "capacity: 9, mode: paused, session: {idle: 1m, claim: 40s}"},
		"another gate":    {"gates: [", "gates: [{name: other, match: {paths: [/other]}, upstream: origin, capacity: 1}, "},
		"a new key":       {"keys: [", "keys: [{id: \"2\", secret: fedcba9876543210fedcba9876543210}, "},
		"an event":        {"capacity: 10", "capacity: 20"},
		"trusted proxies": {"log:", "trusted_proxies: [10.0.0.0/8], log:"},
		"the admin token": {"log:", "admin_token: secret, log:"},
	} {
		t.Run(name, func(t *testing.T) {
			if cfg, report := reloaded(t, change...); cfg == nil || !report.OK() {
				t.Errorf("refused: %v", report)
			}
		})
	}
}

func TestReload_RefusesToTurnSectionsOnAndOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.yaml")
	write(t, path, "gates: [{name: shop, upstream: \"http://127.0.0.1:3000\", capacity: 7}]")
	cfg, report := Load(path)
	if !report.OK() {
		t.Fatal(report)
	}
	write(t, path+".pem", "")
	write(t, path, strings.ReplaceAll(`
server: {tls: {cert: PEM, key: PEM}}
gates: [{name: shop, upstream: origin, capacity: 7}]
origin: {events: [{id: final, capacity: 10, price: {amount: 100, currency: eur}}]}
`, "PEM", path+".pem"))
	_, report = Reload(path, cfg)
	if len(report.Problems) != 2 || report.Problems[0].Key != "server.tls" || report.Problems[1].Key != "origin" {
		t.Errorf("got %v", report)
	}
}
