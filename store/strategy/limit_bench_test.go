package strategy_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"foyer/internal/services"
	"foyer/store/pgstore"
)

// holdColumns are what a hold writes.
var holdColumns = []string{"id", "event", "buyer", "quantity", "amount", "currency", "state", "created_at", "expires_at"}

// BenchmarkLimit writes the rows of BenchmarkHold and decides nothing: one insert and commit for each of 64 clients, and COPY
// of 1,000 at a time. No strategy can be faster on this database.
func BenchmarkLimit(b *testing.B) {
	b.Run("postgres/insert/64", func(b *testing.B) {
		pool := limitPool(b)
		var next atomic.Int64
		var wg sync.WaitGroup
		b.ResetTimer()
		for range 64 {
			wg.Go(func() {
				for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
					const insert = `insert into holds (id, event, buyer, quantity, amount, currency, state, created_at, expires_at)
						values ($1, 'e', $2, 1, 100, 'eur', 'active', clock_timestamp(), clock_timestamp() + interval '1h')`
					if _, err := pool.Exec(b.Context(), insert, fmt.Sprint("h", n), fmt.Sprint("buyer of h", n)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
	})
	b.Run("postgres/copy/1000", func(b *testing.B) {
		pool := limitPool(b)
		now := time.Now()
		b.ResetTimer()
		for from := 0; from < b.N; from += 1000 {
			rows := pgx.CopyFromSlice(min(1000, b.N-from), func(i int) ([]any, error) {
				id := fmt.Sprint("h", from+i)
				return []any{id, "e", "buyer of " + id, int64(1), int64(100), "eur", "active", now, now.Add(time.Hour)}, nil
			})
			if _, err := pool.CopyFrom(b.Context(), pgx.Identifier{"holds"}, holdColumns, rows); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
	})
}

// limitPool connects to an empty ledger.
func limitPool(b *testing.B) *pgxpool.Pool {
	b.Helper()
	url := services.Postgres(b)
	if _, err := pgstore.Migrate(b.Context(), url); err != nil {
		b.Fatal(err)
	}
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}
