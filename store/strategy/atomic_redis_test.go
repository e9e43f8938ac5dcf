package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

// errDied stands for a process that died between the take and the ledger's row.
var errDied = errors.New("died")

// newSale puts an event on sale under atomic_redis.
func newSale(t *testing.T, capacity int64, settings strategy.Settings) (storetest.Shelf, *redis.Client, string) {
	t.Helper()
	if settings.Redis == nil {
		settings.Redis, settings.Prefix = redisClient(t)
	}
	ledger := onPostgres(t)
	event := origin.Event{ID: "e", Name: "e", Capacity: capacity, Amount: 100, Currency: "eur", MaxPerBuyer: 4}
	if _, err := ledger.PutEvent(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	settings.Ledger = ledger
	s, err := strategy.New(strategy.AtomicRedis, settings)
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Shelf{Strategy: s, Ledger: ledger}, settings.Redis.(*redis.Client), settings.Prefix
}

func ask(id string) origin.HoldRequest {
	return origin.HoldRequest{ID: id, Event: "e", Buyer: "buyer of " + id, Quantity: 1, TTL: time.Hour}
}

// wantEven checks that nothing was oversold and that the counter is what remains.
func wantEven(t *testing.T, s storetest.Shelf, held int64) {
	t.Helper()
	report, err := s.Strategy.Compare(t.Context(), "e")
	if err != nil || report.Counter == nil || report.DriftBefore != 0 || report.Pending != 0 {
		t.Errorf("compare: %+v %v", report, err)
	}
	audit, _, err := s.Ledger.Audit(t.Context(), "e")
	if err != nil || audit.HeldRows != held || audit.Held != held {
		t.Errorf("held %d, in rows %d, want %d (%v)", audit.Held, audit.HeldRows, held, err)
	}
}

func reconcile(t *testing.T, s storetest.Shelf) origin.Reconciliation {
	t.Helper()
	report, err := s.Strategy.Reconcile(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Case E9: crashes after the take and before the row.
func TestAtomicRedis_ReturnsWhatCrashesStranded(t *testing.T) {
	dying := atomic.Bool{}
	s, _, _ := newSale(t, 10, strategy.Settings{Grace: time.Millisecond, AfterTake: func(string) error {
		if dying.Load() {
			return errDied
		}
		return nil
	}})
	dying.Store(true)
	for i := range 5 {
		if _, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("lost", i))); !errors.Is(err, errDied) {
			t.Fatal(err)
		}
	}
	hold, ok, err := s.Strategy.Pending(t.Context(), "lost0")
	if err != nil || !ok || hold.State != origin.HoldPending || hold.Buyer != "buyer of lost0" || hold.Quantity != 1 || hold.Amount != 100 {
		t.Errorf("pending: %+v %v %v", hold, ok, err)
	}
	dying.Store(false)
	if made := storetest.Rush(t, s.Strategy, "e", 10); made != 5 {
		t.Errorf("%d sold beside 5 stranded", made)
	}
	report := reconcile(t, s)
	if report.StrandedReturned != 5 || report.DriftBefore != -5 || report.DriftAfter != 0 || *report.Counter != 5 {
		t.Errorf("report %+v, counter %d", report, *report.Counter)
	}
	if again := reconcile(t, s); again.StrandedReturned != 0 {
		t.Errorf("given back twice: %+v", again)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("lost0")); err != nil || reply.Refusal == origin.NotRefused {
		t.Errorf("a void hold came true: %+v %v", reply, err)
	}
	for i := range 6 {
		reply, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("late", i)))
		if err != nil || (reply.Refusal == origin.NotRefused) != (i < 5) {
			t.Errorf("%d: %+v %v", i, reply, err)
		}
	}
	wantEven(t, s, 10)
}

// The second half of E9: a sale of 200 with 4,000 buyers, crashes among them, and a reconciler that never rests.
func TestAtomicRedis_ReconcilingDuringASaleNeverOversells(t *testing.T) {
	var n atomic.Int64
	s, _, _ := newSale(t, 200, strategy.Settings{Grace: time.Millisecond, AfterTake: func(string) error {
		if n.Add(1)%10 == 0 {
			return errDied
		}
		return nil
	}})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.Strategy.Reconcile(ctx, "e"); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	var made, tried atomic.Int64
	var buyers sync.WaitGroup
	for range 64 {
		buyers.Go(func() {
			for i := tried.Add(1); i <= 4000; i = tried.Add(1) {
				reply, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("h", i)))
				if err != nil && !errors.Is(err, errDied) {
					t.Error(err)
				}
				if err == nil && reply.Refusal == origin.NotRefused {
					made.Add(1)
				}
			}
		})
	}
	buyers.Wait()
	stop()
	wg.Wait()
	for i := 0; made.Load() < 200 && i < 400; i++ { // what comes back after the last buyer is sold too
		reply, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("late", i)))
		if err == nil && reply.Refusal == origin.NotRefused {
			made.Add(1)
			continue
		}
		reconcile(t, s)
	}
	for reconcile(t, s).Pending > 0 {
	}
	if made.Load() != 200 {
		t.Errorf("%d of 200 sold", made.Load())
	}
	wantEven(t, s, 200)
}

// Case E8: Redis forgets everything in mid-sale.
func TestAtomicRedis_SellsTheCapacityThoughRedisForgets(t *testing.T) {
	s, client, prefix := newSale(t, 500, strategy.Settings{Grace: time.Millisecond})
	var forgotten sync.Once
	var made, tried atomic.Int64
	var buyers sync.WaitGroup
	for range 64 {
		buyers.Go(func() {
			for i := tried.Add(1); i <= 2000; i = tried.Add(1) {
				if i > 300 {
					forgotten.Do(func() {
						if err := client.Del(t.Context(), keysOf(t, client, prefix)...).Err(); err != nil {
							t.Error(err)
						}
					})
				}
				reply, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("h", i)))
				if err != nil {
					t.Error(err)
				} else if reply.Refusal == origin.NotRefused {
					made.Add(1)
				}
			}
		})
	}
	buyers.Wait()
	if made.Load() != 500 {
		t.Errorf("%d of 500 sold", made.Load())
	}
	reconcile(t, s)
	wantEven(t, s, 500)
	if stock, _, err := s.Ledger.Event(t.Context(), "e"); err != nil || stock.Epoch != 2 {
		t.Errorf("epoch %d, want 2: one rebuilt it (%v)", stock.Epoch, err)
	}
}

func TestAtomicRedis_SellsOnWithoutRedis(t *testing.T) {
	server := services.PrivateRedis(t)
	s, _, _ := newSale(t, 10, strategy.Settings{Redis: connectRedis(t, server.URL()), Prefix: "p:"})
	if _, err := s.Strategy.Hold(t.Context(), ask("before")); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if made := storetest.Rush(t, s.Strategy, "e", 20); made != 9 {
		t.Errorf("%d of 9 sold while Redis was gone", made)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("after")); err != nil || reply.Refusal != origin.SoldOut {
		t.Errorf("after: %+v %v", reply, err)
	}
	reconcile(t, s)
	wantEven(t, s, 10)
}

// Case E7: the answer of a take is lost and it is asked for again.
func TestAtomicRedis_RepeatedTakeTakesOnce(t *testing.T) {
	died := atomic.Bool{}
	s, _, _ := newSale(t, 10, strategy.Settings{AfterTake: func(string) error {
		if !died.Swap(true) {
			return errDied
		}
		return nil
	}})
	if _, err := s.Strategy.Hold(t.Context(), ask("h")); !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("h")); err != nil || reply.Hold.State != origin.HoldActive {
		t.Errorf("again: %+v %v", reply, err)
	}
	wantEven(t, s, 1)
}

func TestAtomicRedis_MendsACounterThatIsWrong(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	for _, wrong := range []int64{3, -5} {
		if err := client.HIncrBy(t.Context(), prefix+"shop:{e}:counter", "remaining", wrong).Err(); err != nil {
			t.Fatal(err)
		}
		if report := reconcile(t, s); report.DriftBefore != wrong || report.DriftAfter != 0 {
			t.Errorf("wrong by %d: %+v", wrong, report)
		}
	}
	wantEven(t, s, 4)
}

func TestAtomicRedis_RebuildsACounterOfAnOlderEpoch(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	if _, raised, err := s.Ledger.RaiseEpoch(t.Context(), "e", 1); err != nil || !raised {
		t.Fatalf("raise: %v %v", raised, err)
	}
	if err := client.HSet(t.Context(), prefix+"shop:{e}:counter", "remaining", 99).Err(); err != nil {
		t.Fatal(err)
	}
	if report := reconcile(t, s); report.DriftBefore != 93 || report.DriftAfter != 0 {
		t.Errorf("report %+v", report)
	}
	wantEven(t, s, 4)
}

func TestAtomicRedis_FindsGivenBackUnitsItWasNotToldOf(t *testing.T) {
	s, _, _ := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	if _, freed, _, err := s.Ledger.Release(t.Context(), "e-0", "buyer0"); err != nil || !freed {
		t.Fatalf("release: %v %v", freed, err)
	}
	if report := reconcile(t, s); report.DriftBefore != -1 || report.DriftAfter != 0 || report.StrandedReturned != 1 {
		t.Errorf("report %+v", report)
	}
	if err := s.Strategy.GaveBack(t.Context(), origin.Ended{Hold: "e-0", Event: "e", Quantity: 1}); err != nil {
		t.Fatal(err)
	}
	wantEven(t, s, 3)
}

func TestAtomicRedis_ForgetsWhatIsSold(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	if _, err := s.Ledger.StartPayment(t.Context(), origin.PaymentStart{Attempt: "a", Hold: "e-1", Buyer: "buyer1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ledger.Settle(t.Context(), origin.Settlement{Attempt: "a", State: origin.AttemptPaid}); err != nil {
		t.Fatal(err)
	}
	if report := reconcile(t, s); report.DriftAfter != 0 || report.StrandedReturned != 0 {
		t.Errorf("report %+v", report)
	}
	if n, err := client.HLen(t.Context(), prefix+"shop:{e}:takes").Result(); err != nil || n != 3 {
		t.Errorf("%d takes kept, want 3 (%v)", n, err)
	}
}

// A group whose holds are all written is closed as a whole, also where no take comes after it, and its takes go on being known.
func TestAtomicRedis_ClosesAGroupThatIsWritten(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	slot := prefix + "shop:{e}:"
	soon(t, "the groups are closed", func() (bool, error) {
		entries, err := client.XLen(t.Context(), slot+"pending").Result()
		return entries == 0, err
	})
	if pending, err := client.XPending(t.Context(), slot+"pending", "replicas").Result(); err != nil || pending.Count != 0 {
		t.Errorf("%d entries have yet to be acknowledged (%v)", pending.Count, err)
	}
	if fields, err := client.HLen(t.Context(), slot+"counter").Result(); err != nil || fields != 3 {
		t.Errorf("the counter has %d fields, want remaining, epoch and seq (%v)", fields, err)
	}
	if hold, ok, err := s.Strategy.Pending(t.Context(), "e-0"); ok || err != nil {
		t.Errorf("pending: %+v %v", hold, err)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("e-0")); err != nil || reply.Hold.State != origin.HoldActive {
		t.Errorf("again: %+v %v", reply, err)
	}
	for range 2 { // the second time there is nothing left to give back
		if err := s.Strategy.GaveBack(t.Context(), origin.Ended{Hold: "e-1", Event: "e", Quantity: 1}); err != nil {
			t.Fatal(err)
		}
		if left, err := client.HGet(t.Context(), slot+"counter", "remaining").Int(); err != nil || left != 7 {
			t.Errorf("%d remain, want 7 (%v)", left, err)
		}
	}
}

// Whoever ends Run finds all groups closed, also those that still waited for the next take.
func TestAtomicRedis_ClosesItsGroupsBeforeItEnds(t *testing.T) {
	for range 10 {
		s, client, prefix := newSale(t, 10, strategy.Settings{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Strategy.Run(ctx) }()
		storetest.Rush(t, s.Strategy, "e", 4)
		time.Sleep(rand.N(8 * time.Millisecond)) // before, while or after they are closed by themselves
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if entries, err := client.XLen(t.Context(), prefix+"shop:{e}:pending").Result(); err != nil || entries != 0 {
			t.Fatalf("%d groups are left (%v)", entries, err)
		}
		wantEven(t, s, 4)
	}
}

// A take of a group that was closed, whose row the ledger does not have, is given back; one that came after the look is not.
func TestAtomicRedis_ReturnsATakeThatNothingExplains(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{Grace: time.Hour})
	storetest.Rush(t, s.Strategy, "e", 4)
	slot := prefix + "shop:{e}:"
	for hold, take := range map[string]string{"closed": "2 1700000000000-0", "settled": "1", "later": "1 99999999999999-0"} {
		if err := client.HSet(t.Context(), slot+"takes", hold, take).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.HIncrBy(t.Context(), slot+"counter", "remaining", -3).Err(); err != nil {
		t.Fatal(err)
	}
	if report := reconcile(t, s); report.StrandedReturned != 3 || report.DriftAfter != 0 {
		t.Errorf("report %+v", report)
	}
	left, err := client.HKeys(t.Context(), slot+"takes").Result()
	slices.Sort(left)
	if want := []string{"e-0", "e-1", "e-2", "e-3", "later"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("takes %v, want %v (%v)", left, want, err)
	}
}

// Redis's clock goes back while the reconciler looks: a take that comes meanwhile has a stream id of before the look, and is
// left.
func TestAtomicRedis_LeavesATakeThatCameDuringTheLookThoughTheClockWentBack(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	storetest.Rush(t, s.Strategy, "e", 4)
	slot := prefix + "shop:{e}:"
	var looks atomic.Int64
	takeLate := func() {
		if looks.Add(1) != 2 { // the first look is for the report, the second one what the takes are judged by
			return
		}
		stream, err := client.XInfoStream(t.Context(), slot+"pending").Result()
		if err != nil {
			t.Error(err)
			return
		}
		made, _, _ := strings.Cut(stream.LastGeneratedID, "-")
		at, _ := strconv.ParseInt(made, 10, 64)
		entry := fmt.Sprint(at+1, "-0") // as if the clock had just come to where it was at the last take
		_, err = client.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
			tx.XAdd(t.Context(), &redis.XAddArgs{Stream: slot + "pending", ID: entry, Values: []string{"ids", `["late"]`, "units", "[1]", "buyers", `["b"]`}})
			tx.HSet(t.Context(), slot+"takes", "late", "1 "+entry)
			tx.HSet(t.Context(), slot+"counter", entry, 1)
			tx.HIncrBy(t.Context(), slot+"counter", "remaining", -1)
			tx.HIncrBy(t.Context(), slot+"counter", "seq", 1)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	time.Sleep(10 * time.Millisecond) // so that the look is later than that
	looking, err := strategy.New(strategy.AtomicRedis, strategy.Settings{
		Ledger: looked{s.Ledger, takeLate}, Redis: client, Prefix: prefix, Grace: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := looking.Reconcile(t.Context(), "e")
	if err != nil || report.StrandedReturned != 0 || report.Pending != 1 {
		t.Errorf("report %+v (%v)", report, err)
	}
	if hold, voided, err := s.Ledger.Hold(t.Context(), "late"); err != nil || voided {
		t.Errorf("the take is voided: %+v (%v)", hold, err)
	}
}

// looked calls a function each time when the reconciler has read the counter, and then the ledger.
type looked struct {
	storetest.LedgerStore
	then func()
}

func (l looked) Standing(ctx context.Context, event string, ids []string) (origin.Stock, map[string]origin.Hold, error) {
	defer l.then()
	return l.LedgerStore.Standing(ctx, event, ids)
}

// Whom the ledger refuses gives back what he took, and his group is closed with him.
func TestAtomicRedis_ClosesAGroupWithARefusal(t *testing.T) {
	s, client, prefix := newSale(t, 10, strategy.Settings{})
	var buyers sync.WaitGroup
	var made atomic.Int64
	for i := range 8 {
		buyers.Go(func() {
			request := ask(fmt.Sprint("h", i))
			request.Buyer = "one who may have 4"
			if reply, err := s.Strategy.Hold(t.Context(), request); err != nil {
				t.Error(err)
			} else if reply.Refusal == origin.NotRefused {
				made.Add(1)
			}
		})
	}
	buyers.Wait()
	if made.Load() != 4 {
		t.Errorf("%d holds, want 4", made.Load())
	}
	soon(t, "the groups are closed and the units are back", func() (bool, error) {
		entries, err := client.XLen(t.Context(), prefix+"shop:{e}:pending").Result()
		if err != nil || entries > 0 {
			return false, err
		}
		left, err := client.HGet(t.Context(), prefix+"shop:{e}:counter", "remaining").Int()
		return left == 6, err
	})
	wantEven(t, s, 4)
}

// keysOf lists the keys of a prefix.
func keysOf(t *testing.T, client *redis.Client, prefix string) []string {
	t.Helper()
	var keys []string
	for each := client.Scan(t.Context(), 0, prefix+"*", 1000).Iterator(); each.Next(t.Context()); {
		keys = append(keys, each.Val())
	}
	return keys
}
