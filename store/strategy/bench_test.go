package strategy_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
	"foyer/store/sqlitestore"
	"foyer/store/strategy"
)

// BenchmarkHold measures holds of one unit per second on one event, each by a buyer of its own, on a database of its own
// with default durability.
func BenchmarkHold(b *testing.B) {
	for _, clients := range []int{64, 500} {
		for _, name := range strategy.Names() {
			b.Run(fmt.Sprintf("postgres/%s/%d", name, clients), func(b *testing.B) {
				ledger, control := benchPostgres(b)
				benchHold(b, name, clients, strategy.Settings{Ledger: ledger, Control: control})
			})
		}
		for _, name := range []string{strategy.AtomicDB, strategy.GroupCommit} {
			b.Run(fmt.Sprintf("sqlite/%s/%d", name, clients), func(b *testing.B) {
				ledger, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "ledger.db"))
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { ledger.Close() })
				putBenchEvent(b, ledger, nil)
				benchHold(b, name, clients, strategy.Settings{Ledger: ledger})
			})
		}
	}
}

func benchPostgres(b *testing.B) (*pgstore.Store, *pgstore.Control) {
	b.Helper()
	url := services.Postgres(b)
	ledger, err := pgstore.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ledger.Close() })
	control, err := pgstore.OpenControl(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { control.Close() })
	putBenchEvent(b, ledger, control)
	return ledger, control
}

func putBenchEvent(b *testing.B, ledger origin.Ledger, control *pgstore.Control) {
	b.Helper()
	event := origin.Event{ID: "e", Name: "bench", Capacity: 1 << 40, Amount: 100, Currency: "eur", MaxPerBuyer: 4}
	if _, err := ledger.PutEvent(b.Context(), event); err != nil {
		b.Fatal(err)
	}
	if control != nil {
		if err := control.Put(b.Context(), event); err != nil {
			b.Fatal(err)
		}
	}
}

func benchHold(b *testing.B, name string, clients int, settings strategy.Settings) {
	if name == strategy.AtomicRedis {
		settings.Redis, settings.Prefix = redisClient(b)
	}
	s, err := strategy.New(name, settings)
	if err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				id := fmt.Sprint("h", n)
				reply, err := s.Hold(b.Context(), origin.HoldRequest{ID: id, Event: "e", Buyer: "buyer of " + id, Quantity: 1, TTL: time.Hour})
				if err != nil || reply.Refusal != origin.NotRefused {
					b.Errorf("%+v %v", reply, err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "holds/s")
}
