package sqlitestore_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"foyer/store/sqlitestore"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

func TestStore_KeepsTheLedgersContractInAFile(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore {
		return open(t, filepath.Join(t.TempDir(), "ledger ?#%.db"))
	})
}

func TestStore_KeepsTheLedgersContractInMemory(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore { return open(t, ":memory:") })
}

// The groups of releases and settlements keep the contract of the ledger beneath them.
func TestGrouped_KeepsTheLedgersContract(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore {
		beneath := open(t, ":memory:")
		return grouped{strategy.Grouped(beneath.Store), beneath}
	})
}

// grouped has the doors of the ledger beneath it.
type grouped struct {
	*strategy.GroupedLedger
	beneath ledger
}

func (g grouped) Exec(ctx context.Context, statement string) error {
	return g.beneath.Exec(ctx, statement)
}

func (g grouped) Clock(ctx context.Context) (time.Time, error) { return g.beneath.Clock(ctx) }

// ledger is a store with the doors that the suite needs.
type ledger struct{ *sqlitestore.Store }

func (l ledger) Exec(ctx context.Context, statement string) error {
	return l.Store.Exec(ctx, statement)
}

func (l ledger) Clock(context.Context) (time.Time, error) { return l.Store.Now(), nil }

func open(t testing.TB, path string) ledger {
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

func TestStore_AgreesWithAModelOfTheLedger(t *testing.T) {
	storetest.LedgerModel(t, func(t *testing.T) storetest.LedgerStore {
		beneath := open(t, ":memory:")
		return grouped{strategy.Grouped(beneath.Store), beneath}
	})
}

func BenchmarkStore(b *testing.B) {
	const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < %d) select n from numbers`
	storetest.BenchReconcile(b, open(b, filepath.Join(b.TempDir(), "ledger.db")), numbers, `unixepoch() * 1000000`)
}
