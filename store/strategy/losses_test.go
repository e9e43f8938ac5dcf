package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/origin"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

// Three replicas sell, each loses every twelfth call to Redis and to the ledger, and some processes die between the two. Buyers
// ask for the same hold of several replicas at once, holds are given back, not all of which is told. Once no more is lost, the
// heirs end what was left, and then the counter is what remains, and has no take but of active holds.
func TestAtomicRedis_LosesNothingForGoodWhateverCallsAreLost(t *testing.T) {
	for name, forgets := range map[string]bool{"Redis remembers": false, "Redis forgets": true} {
		t.Run(name, func(t *testing.T) {
			const capacity, lasts = 60, 3 * time.Second
			client, prefix := redisClient(t)
			ledger := onPostgres(t)
			event := origin.Event{ID: "e", Name: "e", Capacity: capacity, Amount: 100, Currency: "eur", MaxPerBuyer: 4}
			if _, err := ledger.PutEvent(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			sale := &lossySale{ledger: ledger, capacity: capacity, ends: time.Now().Add(lasts)}
			for range 3 {
				sale.replicas = append(sale.replicas, lossyReplica(t, &sale.losses, ledger, prefix))
			}
			sale.losses.begin()
			var work sync.WaitGroup
			for range 16 {
				work.Go(func() { sale.buy(t) })
			}
			work.Go(func() {
				for sale.isOn() {
					_, _ = sale.any().Reconcile(t.Context(), "e") // it loses calls too
					time.Sleep(rand.N(100 * time.Millisecond))
				}
			})
			if forgets {
				work.Go(func() {
					for sale.isOn() {
						time.Sleep(lasts / 5)
						keys := keysOf(t, client, prefix)
						if len(keys) == 0 {
							continue
						}
						if err := client.Del(t.Context(), keys...).Err(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			work.Wait()
			sale.losses.end()
			t.Logf("%d answers of an active hold, %d refusals, %d errors", sale.made.Load(), sale.refused.Load(), sale.broke.Load())
			if !sale.isBusy() {
				t.Error("too little has happened")
			}

			slot := prefix + "shop:{e}:"
			soon(t, "no entry is left", func() (bool, error) {
				entries, err := client.XLen(t.Context(), slot+"pending").Result()
				return entries == 0, err
			})
			s := storetest.Shelf{Strategy: sale.any(), Ledger: ledger}
			soon(t, "the counter is what remains", func() (bool, error) { // the last takes may still be about to be resolved
				return reconcile(t, s).DriftAfter == 0, nil
			})
			audit, _, err := ledger.Audit(t.Context(), "e")
			if err != nil || audit.HeldRows > capacity {
				t.Errorf("%d of %d held (%v)", audit.HeldRows, capacity, err)
			}
			wantEven(t, s, audit.HeldRows)
			if fields, err := client.HLen(t.Context(), slot+"counter").Result(); err != nil || fields != 3 {
				t.Errorf("the counter has %d fields, want remaining, epoch and seq (%v)", fields, err)
			}
			for _, id := range client.HKeys(t.Context(), slot+"takes").Val() {
				if hold, _, err := ledger.Hold(t.Context(), id); err != nil || hold.State != origin.HoldActive {
					t.Errorf("the counter has a take of %s, which is %+v (%v)", id, hold, err)
				}
			}
		})
	}
}

// lossySale is a sale by replicas that lose calls.
type lossySale struct {
	ledger   storetest.LedgerStore
	replicas []origin.Strategy
	losses   losses
	capacity int64
	ends     time.Time // or when enough has happened, if that is later

	ids, made, refused, broke atomic.Int64
	found                     sync.Map // hold id → when it was made, as it was first answered
}

func (s *lossySale) isOn() bool {
	late := time.Since(s.ends)
	return late < 0 || late < time.Minute && !s.isBusy()
}

// isBusy tells whether enough has happened to say anything.
func (s *lossySale) isBusy() bool { return s.made.Load() >= s.capacity && s.broke.Load() > 0 }

func (s *lossySale) any() origin.Strategy { return s.replicas[rand.IntN(len(s.replicas))] }

// buy asks for new holds and for such as others ask for, and gives most of them back.
func (s *lossySale) buy(t *testing.T) {
	for s.isOn() {
		id := s.ids.Load()
		if rand.IntN(2) == 0 {
			id = s.ids.Add(1)
		}
		request := ask(fmt.Sprint("h", id))
		request.Buyer, request.Quantity, request.Repeated = fmt.Sprint("buyer", id%20), 1+id%2, true
		reply, err := s.any().Hold(t.Context(), request)
		switch {
		case err != nil:
			s.broke.Add(1)
			continue
		case reply.Refusal != origin.NotRefused || reply.Hold.State != origin.HoldActive:
			s.refused.Add(1)
			continue
		}
		s.made.Add(1)
		if before, again := s.found.LoadOrStore(request.ID, reply.Hold.CreatedAt); again && before != reply.Hold.CreatedAt {
			t.Errorf("%s was made at %v and then at %v", request.ID, before, reply.Hold.CreatedAt)
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		if rand.IntN(20) == 0 {
			continue
		}
		_, freed, _, err := s.ledger.Release(t.Context(), request.ID, request.Buyer)
		if err != nil {
			t.Error(err)
		}
		if freed && rand.IntN(4) > 0 {
			_ = s.any().GaveBack(t.Context(), origin.Ended{Hold: request.ID, Event: "e", Quantity: request.Quantity})
		}
	}
}

func lossyReplica(t *testing.T, l *losses, ledger storetest.LedgerStore, prefix string) origin.Strategy {
	t.Helper()
	client, _ := redisClient(t)
	client.AddHook(lossyRedis{l})
	s, err := strategy.New(strategy.AtomicRedis, strategy.Settings{
		Ledger: lossyLedger{ledger, l}, Redis: client, Prefix: prefix, Group: 7, Grace: 300 * time.Millisecond, Patience: time.Minute,
		AfterTake: func(string) error {
			if l.one(50, nil) {
				return errDied
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

// errLost is all that the caller of a lost call hears.
var errLost = errors.New("lost")

// losses loses calls: the request, the answer, or the request until later.
type losses struct {
	mu     sync.Mutex
	losing bool
	late   sync.WaitGroup
}

func (l *losses) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing = true
}

// end waits for what comes later.
func (l *losses) end() {
	l.mu.Lock()
	l.losing = false
	l.mu.Unlock()
	l.late.Wait()
}

// one tells whether now is when something happens to one in n. What is to be done later then, if anything, end waits for.
func (l *losses) one(n int, later func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.losing || rand.IntN(n) > 0 {
		return false
	}
	if later != nil {
		l.late.Go(func() {
			time.Sleep(rand.N(50 * time.Millisecond))
			later()
		})
	}
	return true
}

// lost tells whether a call is lost, having made it where its answer alone is.
func (l *losses) lost(ctx context.Context, call func(ctx context.Context)) bool {
	ctx = context.WithoutCancel(ctx)
	kind := rand.IntN(3)
	var later func()
	if kind == 1 {
		later = func() { call(ctx) }
	}
	lost := l.one(12, later)
	if lost && kind == 0 {
		call(ctx)
	}
	return lost
}

// lossyRedis is a hook of a client.
type lossyRedis struct{ *losses }

func (lossyRedis) DialHook(next redis.DialHook) redis.DialHook { return next }

func (lossyRedis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l lossyRedis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if l.lost(ctx, func(ctx context.Context) { _ = next(ctx, redis.NewCmd(ctx, cmd.Args()...)) }) {
			cmd.SetErr(errLost)
			return errLost
		}
		return next(ctx, cmd)
	}
}

// lossyLedger loses the calls that write holds.
type lossyLedger struct {
	storetest.LedgerStore
	*losses
}

func (l lossyLedger) HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	if l.lost(ctx, func(ctx context.Context) { _, _ = l.LedgerStore.HoldGroup(ctx, event, requests) }) {
		return nil, errLost
	}
	return l.LedgerStore.HoldGroup(ctx, event, requests)
}

func (l lossyLedger) Void(ctx context.Context, event string, requests []origin.HoldRequest, reason origin.Refusal) (map[string]origin.Hold, error) {
	if l.lost(ctx, func(ctx context.Context) { _, _ = l.LedgerStore.Void(ctx, event, requests, reason) }) {
		return nil, errLost
	}
	return l.LedgerStore.Void(ctx, event, requests, reason)
}
