package strategy_test

import (
	"context"
	"math"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

// histories is how many are recorded of each strategy.
const histories = 3

// What clients were answered, all at once, by an event on sale must be what they could have been answered one after the
// other. On Postgres connections break meanwhile, so that commits happen of which nobody hears.
func TestStrategies_AnswerAsIfOneAfterTheOther(t *testing.T) {
	var did tally
	t.Cleanup(func() { did.wantAll(t) })
	for _, name := range strategy.Names() {
		if name == strategy.Naive {
			continue
		}
		t.Run(name+" on Postgres", func(t *testing.T) {
			t.Parallel()
			explained(t, &did, name, func(t *testing.T) (storetest.LedgerStore, func(context.Context)) {
				link := services.Postgres(t) + "&application_name=" + url.QueryEscape(t.Name())
				ledger := onPostgresAt(t, link)
				return ledger, func(ctx context.Context) {
					_ = ledger.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
						and application_name = '`+t.Name()+`' and state <> 'idle' limit 1`) // it breaks its own too
				}
			})
		})
		t.Run(name+" on SQLite", func(t *testing.T) {
			t.Parallel()
			explained(t, &did, name, func(t *testing.T) (storetest.LedgerStore, func(context.Context)) { return onSQLite(t), nil })
		})
	}
}

// explained records histories of a strategy as the shop runs it, and wants each to be linearizable.
func explained(t *testing.T, did *tally, name string, open func(t *testing.T) (storetest.LedgerStore, func(context.Context))) {
	t.Helper()
	for range histories {
		ledger, tear := open(t)
		event := origin.Event{ID: "e", Name: "e", Capacity: 10, Amount: 100, Currency: "eur", MaxPerBuyer: 5}
		if _, err := ledger.PutEvent(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		s := shelf(t, name, grouped{strategy.Grouped(ledger), ledger}, strategy.Settings{Patience: time.Minute})
		h := storetest.RecordHistory(t, storetest.HistoryShelf{
			Strategy: s.Strategy, Ledger: s.Ledger, Capacity: event.Capacity, Limit: event.MaxPerBuyer,
			Doorkeeper: name == strategy.AtomicRedis, Tear: tear,
		}, 25)
		if result := h.Check(); result != porcupine.Ok {
			t.Errorf("the history is %v to explain:\n%s", result, h)
		}
		did.add(h.Done())
	}
}

// tally is what happened how often in all histories.
type tally struct {
	mu   sync.Mutex
	done map[string]int
}

func (d *tally) add(done map[string]int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = map[string]int{}
	}
	for what, times := range done {
		d.done[what] += times
	}
}

// wantAll makes sure that the histories were worth explaining.
func (d *tally) wantAll(t *testing.T) {
	t.Log(d.done)
	for _, what := range []string{
		"hold active", "hold sold-out", "hold limit-exceeded", "release released", "release payment-in-progress", "expired",
		"settle paid", "settle declined", "resize", "lost hold", "lost release", "lost start",
	} {
		if d.done[what] == 0 {
			t.Errorf("nothing of this happened: %s", what)
		}
	}
}

// grouped is a ledger as the shop has it, with the doors that the suites need.
type grouped struct {
	*strategy.GroupedLedger
	doors storetest.LedgerStore
}

func (g grouped) Exec(ctx context.Context, statement string) error {
	return g.doors.Exec(ctx, statement)
}
func (g grouped) Clock(ctx context.Context) (time.Time, error) { return g.doors.Clock(ctx) }

// The control: what naive answers cannot be explained, so the test above can fail.
func TestNaive_AnswersWhatNobodyCanExplain(t *testing.T) {
	control, err := pgstore.OpenControl(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	s, err := strategy.New(strategy.Naive, strategy.Settings{Control: control})
	if err != nil {
		t.Fatal(err)
	}
	const tries = 20 // by luck none of the clients of a history get into each other's way
	for range tries {
		if err := control.Put(t.Context(), origin.Event{ID: "e", Capacity: 10, Currency: "eur"}); err != nil {
			t.Fatal(err)
		}
		h := storetest.RecordHistory(t, storetest.HistoryShelf{Strategy: s, Capacity: 10, Limit: math.MaxInt64}, 8)
		if h.Check() == porcupine.Illegal {
			t.Log(h.Done())
			return
		}
	}
	t.Errorf("each of %d histories can be explained", tries)
}
