package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"foyer/config"
)

// shopYAML is a shop on an SQLite file, on free ports.
const shopYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: SQLITE, state_file: ""}
gates:
  - {name: shop, upstream: origin, capacity: 5}
origin:
  events:
    - {id: final, name: Final, capacity: 10, price: {amount: 12000, currency: eur}}
`

// command runs foyer with a configuration and answers with what it prints.
func command(t *testing.T, yaml string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "foyer.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	var out strings.Builder
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append(args, "--config", file))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// startApp runs a whole foyer until the test ends.
func startApp(t *testing.T, yaml string) *app {
	t.Helper()
	cfg, report := config.Parse("foyer.yaml", []byte(yaml), os.LookupEnv)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	cfg.Server.Timeouts.Drain = 0
	a, err := newApp(t.Context(), cfg, zap.NewNop(), fitting{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("foyer ended with %v", err)
		}
	})
	if err := waitReady(t.Context(), a.front.rooms.list()); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMigrateAndReconcile_OnAFreshLedger(t *testing.T) {
	yaml := strings.Replace(shopYAML, "SQLITE", filepath.Join(t.TempDir(), "ledger.db"), 1)
	out, err := command(t, yaml, "migrate")
	if err != nil || strings.Contains(out, ", 0 migrations") {
		t.Fatalf("the first migration: %v, %s", err, out)
	}
	if out, err = command(t, yaml, "migrate"); err != nil || !strings.Contains(out, ", 0 migrations") {
		t.Errorf("the second migration: %v, %s", err, out)
	}
	startApp(t, yaml) // puts the event on sale
	out, err = command(t, yaml, "reconcile", "--check", "--json")
	if err != nil {
		t.Fatalf("check a clean ledger: %v, %s", err, out)
	}
	var found []reconciled
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Event != "final" || found[0].Capacity != 10 || len(found[0].Problems) != 0 {
		t.Errorf("reconcile found %+v", found)
	}
}

func TestReconcile_SaysThatThereIsNoEventYet(t *testing.T) {
	yaml := strings.Replace(shopYAML, "SQLITE", filepath.Join(t.TempDir(), "ledger.db"), 1)
	for _, args := range [][]string{{"reconcile"}, {"reconcile", "--check"}} {
		out, err := command(t, yaml, args...)
		if err != nil || !strings.Contains(out, "holds no event yet: foyer serve puts") {
			t.Errorf("%v: %v, %q", args, err, out)
		}
	}
	if out, err := command(t, yaml, "reconcile", "--json"); err != nil || strings.Contains(out, "yet") {
		t.Errorf("as JSON: %v, %q", err, out)
	}
}

func TestReconcile_NamesTheKeyOfARedisThatDoesNotAnswer(t *testing.T) {
	yaml := strings.Replace(shopYAML, "SQLITE", `":memory:", redis: "redis://127.0.0.1:1/0"`, 1) + `  strategy: atomic_redis
tokens: {keys: [{id: one, secret: 0123456789abcdef0123456789abcdef}]}
`
	_, err := command(t, yaml, "reconcile")
	if exitCode(err) != exitFailure || !strings.Contains(err.Error(), "store.redis: see that Redis runs") {
		t.Errorf("%v", err)
	}
	if _, err = command(t, strings.Replace(yaml, "atomic_redis", "group_commit", 1), "reconcile"); err != nil {
		t.Errorf("by a strategy that keeps nothing in Redis: %v", err)
	}
}

func TestReconcile_NamesTheRowThatBreaksAnInvariant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	yaml := strings.Replace(shopYAML, "SQLITE", path, 1)
	startApp(t, yaml)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), `update events set sold = 1 where id = 'final'`); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, yaml, "reconcile", "--check")
	if err == nil || !strings.Contains(err.Error(), "1 row breaks") || !strings.Contains(out, "final: held 0 and sold 1, in rows 0 and 0") {
		t.Errorf("%v, %s", err, out)
	}
}

func TestStatusAndHealthcheck_AskARunningFoyer(t *testing.T) {
	yaml := strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1)
	a := startApp(t, yaml)
	out, err := command(t, yaml, "status", "--admin", a.Admin)
	if err != nil || !strings.Contains(out, "0 of 5") {
		t.Errorf("status: %v\n%s", err, out)
	}
	if out, err := command(t, yaml, "healthcheck", "--url", a.Admin+"/readyz"); err != nil {
		t.Errorf("healthcheck: %v\n%s", err, out)
	}
}

func TestAdminURL_ReachesAWildcardOverLoopback(t *testing.T) {
	for admin, want := range map[string]string{
		"127.0.0.1:9091": "http://127.0.0.1:9091", ":9091": "http://127.0.0.1:9091", "[::]:9091": "http://127.0.0.1:9091",
	} {
		file := filepath.Join(t.TempDir(), "foyer.yaml")
		yaml := `server: {admin: "` + admin + `", admin_token: a-token-of-sixteen-bytes-or-more}
gates: [{name: shop, upstream: "http://127.0.0.1:3000", capacity: 1}]`
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		root := newRoot()
		if err := root.PersistentFlags().Set("config", file); err != nil {
			t.Fatal(err)
		}
		health, _, err := root.Find([]string{"healthcheck"})
		if err != nil {
			t.Fatal(err)
		}
		if err := health.ParseFlags(nil); err != nil { // takes the root's flags over
			t.Fatal(err)
		}
		if got, err := adminURL(health, "--url"); err != nil || got != want {
			t.Errorf("admin %s is asked at %s, want %s (%v)", admin, got, want, err)
		}
	}
}

// Another foyer may listen at the default address: it must not be the one that is paused.
func TestAdminURL_IsNotGuessedWhereAFileCannotBeUsed(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "foyer.yaml")
	if err := os.WriteFile(broken, []byte("gates: [{name: shop, capacty: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{broken, filepath.Join(t.TempDir(), "typo.yaml")} {
		for _, args := range [][]string{{"gate", "pause", "shop"}, {"status"}, {"healthcheck"}} {
			root := newRoot()
			root.SetArgs(append(args, "--config", file))
			err := root.ExecuteContext(t.Context())
			if exitCode(err) != exitMisuse || !strings.Contains(err.Error(), "where to ask") {
				t.Errorf("foyer %s with %s ends with %v", strings.Join(args, " "), file, err)
			}
		}
	}
	t.Chdir(t.TempDir())
	health, _, err := newRoot().Find([]string{"healthcheck"})
	if err != nil {
		t.Fatal(err)
	}
	if err := health.ParseFlags(nil); err != nil {
		t.Fatal(err)
	}
	if got, err := adminURL(health, "--url"); err != nil || got != "http://127.0.0.1:9090" {
		t.Errorf("with no file at all %s is asked (%v)", got, err)
	}
}

func TestShopCommands_NeedAShop(t *testing.T) {
	yaml := `gates: [{name: shop, upstream: "http://127.0.0.1:3000", capacity: 1}]`
	for _, name := range []string{"migrate", "reconcile"} {
		if _, err := command(t, yaml, name); exitCode(err) != exitMisuse {
			t.Errorf("%s without a shop ends with %v", name, err)
		}
	}
}
