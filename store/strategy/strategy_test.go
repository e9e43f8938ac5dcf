package strategy_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
	"foyer/store/sqlitestore"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

// TestMain looks for goroutines left behind, other than those that wait for the servers which all tests share: they end
// with the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("foyer/internal/services.(*process).start.func1"))
}

func TestStrategies_KeepTheirContractOnPostgres(t *testing.T) {
	for _, name := range strategy.Names() {
		if name == strategy.Naive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			storetest.Strategy(t, func(t *testing.T) storetest.Shelf {
				return shelf(t, name, onPostgres(t), strategy.Settings{})
			})
		})
	}
}

func TestStrategies_KeepTheirContractOnSQLite(t *testing.T) {
	for _, name := range strategy.Names() {
		if name == strategy.Naive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			storetest.Strategy(t, func(t *testing.T) storetest.Shelf {
				return shelf(t, name, onSQLite(t), strategy.Settings{})
			})
		})
	}
}

// TestNaive_Oversells is the control: the same rush that the others pass.
func TestNaive_Oversells(t *testing.T) {
	control, err := pgstore.OpenControl(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	if err := control.Put(t.Context(), origin.Event{ID: "e", Capacity: 100, Currency: "eur"}); err != nil {
		t.Fatal(err)
	}
	s, err := strategy.New(strategy.Naive, strategy.Settings{Control: control})
	if err != nil {
		t.Fatal(err)
	}
	made := storetest.Rush(t, s, "e", 500)
	rows, counter, err := control.Taken(t.Context(), "e")
	if err != nil || rows != made || rows <= 100 {
		t.Errorf("%d rows, %d answered, counter %d (%v): it must oversell", rows, made, counter, err)
	}
	t.Logf("%d of 100 sold, and the counter says %d", rows, counter)
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	for name, settings := range map[string]strategy.Settings{
		strategy.Naive:       {Ledger: &pgstore.Store{}},
		strategy.GroupCommit: {},
		strategy.AtomicRedis: {Ledger: &pgstore.Store{}},
		"no such strategy":   {Ledger: &pgstore.Store{}},
	} {
		if _, err := strategy.New(name, settings); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// shelf makes a strategy over a ledger, runs it until the test's end, and waits for it.
func shelf(t *testing.T, name string, ledger storetest.LedgerStore, settings strategy.Settings) storetest.Shelf {
	t.Helper()
	settings.Ledger = ledger
	if name == strategy.AtomicRedis {
		settings.Redis, settings.Prefix = redisClient(t)
	}
	s, err := strategy.New(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return storetest.Shelf{Strategy: s, Ledger: ledger}
}

// run runs a strategy until the test's end, and waits for it.
func run(t *testing.T, s origin.Strategy) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func redisClient(t testing.TB) (*redis.Client, string) {
	t.Helper()
	url, prefix := services.Redis(t)
	return connectRedis(t, url), prefix
}

func connectRedis(t testing.TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// pgLedger and sqliteLedger add the doors that the suites need.
type pgLedger struct {
	*pgstore.Store
	pool *pgxpool.Pool
}

func onPostgres(t *testing.T) storetest.LedgerStore {
	t.Helper()
	return onPostgresAt(t, services.Postgres(t))
}

func onPostgresAt(t *testing.T, url string) storetest.LedgerStore {
	t.Helper()
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
	return pgLedger{store, pool}
}

func (l pgLedger) Exec(ctx context.Context, statement string) error {
	_, err := l.pool.Exec(ctx, statement)
	return err
}

func (l pgLedger) Clock(ctx context.Context) (now time.Time, err error) {
	err = l.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now)
	return now, err
}

type sqliteLedger struct{ *sqlitestore.Store }

func onSQLite(t *testing.T) storetest.LedgerStore {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return sqliteLedger{store}
}

func (sqliteLedger) Exec(context.Context, string) error { panic("no strategy goes past the rules") }

func (sqliteLedger) Clock(context.Context) (time.Time, error) { return time.Now(), nil }
