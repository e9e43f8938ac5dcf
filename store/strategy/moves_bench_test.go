package strategy_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
	"foyer/store/sqlitestore"
	"foyer/store/strategy"
)

// BenchmarkRelease gives holds of one event back: each in a transaction of its own, and in groups.
func BenchmarkRelease(b *testing.B) {
	for _, database := range []string{"postgres", "sqlite"} {
		for _, grouped := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/grouped=%v/64", database, grouped), func(b *testing.B) {
				var ledger strategy.WholeLedger
				if database == "postgres" {
					ledger, _ = benchPostgres(b)
				} else {
					store, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "ledger.db"))
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(func() { store.Close() })
					putBenchEvent(b, store, nil)
					ledger = store
				}
				fillHolds(b, ledger, b.N)
				if grouped {
					ledger = strategy.Grouped(ledger)
				}
				benchRelease(b, ledger, 64)
			})
		}
	}
}

// fillHolds makes the holds h0, h1 …
func fillHolds(b *testing.B, ledger strategy.Ledger, n int) {
	b.Helper()
	const chunk = 1000
	for from := 0; from < n; from += chunk {
		var group []origin.HoldRequest
		for i := from; i < min(from+chunk, n); i++ {
			id := fmt.Sprint("h", i)
			group = append(group, origin.HoldRequest{ID: id, Event: "e", Buyer: "buyer of " + id, Quantity: 1, TTL: time.Hour})
		}
		if _, err := ledger.HoldGroup(b.Context(), "e", group); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRelease(b *testing.B, ledger origin.Ledger, clients int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= int64(b.N) {
					return
				}
				id := fmt.Sprint("h", n)
				if _, freed, _, err := ledger.Release(b.Context(), id, "buyer of "+id); err != nil || !freed {
					b.Errorf("%s: %v %v", id, freed, err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
}
