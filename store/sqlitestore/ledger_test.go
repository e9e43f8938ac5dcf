package sqlitestore_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"foyer/store/sqlitestore"
	"foyer/store/storetest"
)

func TestStore_KeepsTheLedgersContractInAFile(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore {
		return open(t, filepath.Join(t.TempDir(), "ledger ?#%.db"))
	})
}

func TestStore_KeepsTheLedgersContractInMemory(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore { return open(t, ":memory:") })
}

// ledger is a store with the doors that the suite needs.
type ledger struct{ *sqlitestore.Store }

func (l ledger) Exec(ctx context.Context, statement string) error {
	return l.Store.Exec(ctx, statement)
}

func (l ledger) Clock(context.Context) (time.Time, error) { return l.Store.Now(), nil }

func open(t *testing.T, path string) ledger {
	store, err := sqlitestore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger{store}
}
