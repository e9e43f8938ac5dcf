package store

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen_NamesTheKeyOfALedgerThatCannotBeUsed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "ledger.db")
	for name, tc := range map[string]struct {
		settings Settings
		want     []string
	}{
		"postgres": {Settings{Postgres: "postgres://postgres@127.0.0.1:1/postgres"},
			[]string{"store.postgres: see that Postgres runs", "connection refused"}},
		"sqlite": {Settings{SQLite: missing},
			[]string{"store.sqlite " + missing + ": name a file in a folder that is there", "unable to open database file"}},
	} {
		tc.settings.Ledger = true
		_, opened := Open(t.Context(), tc.settings)
		_, migrated := Migrate(t.Context(), tc.settings)
		for _, want := range tc.want {
			if opened == nil || !strings.Contains(opened.Error(), want) {
				t.Errorf("open %s: no %q in %v", name, want, opened)
			}
			if migrated == nil || !strings.Contains(migrated.Error(), want) {
				t.Errorf("migrate %s: no %q in %v", name, want, migrated)
			}
		}
	}
}

func TestPing_NamesTheKeyOfARedisThatDoesNotAnswer(t *testing.T) {
	stores, err := Open(t.Context(), Settings{Redis: "redis://127.0.0.1:1/0", Ledger: true, SQLite: ":memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer stores.Close()
	answers := stores.Ping(t.Context())
	if err := answers["redis"]; err == nil || !strings.Contains(err.Error(), "store.redis: see that Redis runs") {
		t.Errorf("redis: %v", err)
	}
	if err := answers["ledger"]; err != nil {
		t.Errorf("the ledger: %v", err)
	}
}
