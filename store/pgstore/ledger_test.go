package pgstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"foyer/internal/services"
	"foyer/store/pgstore"
	"foyer/store/storetest"
)

// ledger is a store with the doors that the suite needs, over connections of its own.
type ledger struct {
	*pgstore.Store
	pool *pgxpool.Pool
}

func (l ledger) Exec(ctx context.Context, statement string) error {
	_, err := l.pool.Exec(ctx, statement)
	return pgstore.Wrap("exec", err)
}

func (l ledger) Clock(ctx context.Context) (now time.Time, err error) {
	err = l.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now)
	return now, err
}

func open(t testing.TB) storetest.LedgerStore {
	url := services.Postgres(t)
	store, err := pgstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return ledger{Store: store, pool: pool}
}

func TestStore_KeepsTheLedgersContract(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerStore { return open(t) })
}

func BenchmarkStore(b *testing.B) {
	storetest.BenchReconcile(b, open(b), `select n from generate_series(1, %d) as n`, `clock_timestamp()`)
}
