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

// BenchmarkRefusal measures answers per second to those who come when everything is sold.
func BenchmarkRefusal(b *testing.B) {
	for _, clients := range []int{64, 500} {
		for _, name := range []string{strategy.AtomicDB, strategy.GroupCommit, strategy.AtomicRedis} {
			b.Run(fmt.Sprintf("postgres/%s/%d", name, clients), func(b *testing.B) {
				ledger, _ := benchPostgres(b)
				if _, err := ledger.PutEvent(b.Context(), origin.Event{ID: "e", Capacity: 1, Currency: "eur", MaxPerBuyer: 4}); err != nil {
					b.Fatal(err)
				}
				s := benchStrategy(b, name, strategy.Settings{Ledger: ledger})
				if reply, err := s.Hold(b.Context(), benchAsk(0)); err != nil || reply.Refusal != origin.NotRefused {
					b.Fatalf("%+v %v", reply, err)
				}
				benchAsks(b, s, clients, origin.SoldOut)
			})
		}
	}
}

func benchHold(b *testing.B, name string, clients int, settings strategy.Settings) {
	benchAsks(b, benchStrategy(b, name, settings), clients, origin.NotRefused)
}

func benchStrategy(b *testing.B, name string, settings strategy.Settings) origin.Strategy {
	b.Helper()
	if name == strategy.AtomicRedis {
		settings.Redis, settings.Prefix = redisClient(b)
	}
	s, err := strategy.New(name, settings)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// benchAsks lets clients ask, each as soon as it has its answer. The first asks are not counted: they make the connections and
// prepare the statements.
func benchAsks(b *testing.B, s origin.Strategy, clients int, want origin.Refusal) {
	const warm = 4
	askFor(b, s, clients, -warm*int64(clients), -1, want)
	b.ResetTimer()
	askFor(b, s, clients, 1, int64(b.N), want)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
}

// askFor lets clients ask for the holds of some numbers.
func askFor(b *testing.B, s origin.Strategy, clients int, from, to int64, want origin.Refusal) {
	b.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	next.Store(from - 1)
	for range clients {
		wg.Go(func() {
			for n := next.Add(1); n <= to; n = next.Add(1) {
				reply, err := s.Hold(b.Context(), benchAsk(n))
				if err != nil || reply.Refusal != want {
					b.Errorf("%+v %v", reply, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func benchAsk(n int64) origin.HoldRequest {
	id := fmt.Sprint("h", n)
	return origin.HoldRequest{ID: id, Event: "e", Buyer: "buyer of " + id, Quantity: 1, TTL: time.Hour}
}
