package strategy_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/origin"
	"foyer/store/storetest"
	"foyer/store/strategy"
)

// The other half of E9: a replica dies between its takes and their rows, for good, and another one ends them.
func TestAtomicRedis_AnotherReplicaEndsWhatADeadOneLeft(t *testing.T) {
	dead, client, prefix := newSale(t, 10, strategy.Settings{AfterTake: func(string) error { return errDied }})
	for i := range 5 {
		if _, err := dead.Strategy.Hold(t.Context(), ask(fmt.Sprint("left", i))); !errors.Is(err, errDied) {
			t.Fatal(err)
		}
	}
	const grace = 2 * time.Second
	for i := range 2 { // two of them, who do not get in each other's way
		living := replica(t, dead.Ledger, client, prefix, grace)
		if _, err := living.Hold(t.Context(), ask(fmt.Sprint("own", i))); err != nil {
			t.Fatal(err)
		}
	}
	soon(t, "all takes have ended", func() (bool, error) {
		report, err := dead.Strategy.Compare(t.Context(), "e")
		return report.Pending == 0 && report.DriftBefore == 0, err
	})
	for i := range 5 {
		hold, ok, err := dead.Ledger.Hold(t.Context(), fmt.Sprint("left", i))
		if err != nil || !ok || hold.State != origin.HoldRefused || hold.Buyer != fmt.Sprint("buyer of left", i) {
			t.Errorf("left%d is %+v %v %v", i, hold, ok, err)
		}
	}
	wantEven(t, dead, 2)
}

// A replica that is slow, not dead, loses the race to the tombstone or wins it: never both.
func TestAtomicRedis_ASlowReplicaAndItsHeirAgree(t *testing.T) {
	held := make(chan struct{})
	slow, client, prefix := newSale(t, 10, strategy.Settings{
		Patience: time.Minute, AfterTake: func(string) error { <-held; return nil },
	})
	answered := make(chan origin.HoldReply, 1)
	go func() {
		reply, err := slow.Strategy.Hold(t.Context(), ask("h"))
		if err != nil {
			t.Error(err)
		}
		answered <- reply
	}()
	soon(t, "the slow one has taken", func() (bool, error) { // else the heir may build the counter anew, without this take
		_, ok, err := slow.Strategy.Pending(t.Context(), "h")
		return ok, err
	})
	heir := replica(t, slow.Ledger, client, prefix, 2*time.Second)
	if _, err := heir.Hold(t.Context(), ask("own")); err != nil {
		t.Fatal(err)
	}
	soon(t, "the heir has voided the take", func() (bool, error) {
		hold, ok, err := slow.Ledger.Hold(t.Context(), "h")
		return ok && hold.State == origin.HoldRefused, err
	})
	close(held)
	if reply := <-answered; reply.Hold.State != origin.HoldRefused {
		t.Errorf("the slow one answered %+v", reply)
	}
	soon(t, "its units are given back", func() (bool, error) {
		report, err := slow.Strategy.Compare(t.Context(), "e")
		return report.Pending == 0 && report.DriftBefore == 0, err
	})
	wantEven(t, slow, 1)
}

// soon waits until something is so.
func soon(t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		switch ok, err := is(); {
		case err != nil:
			t.Fatal(err)
		case ok:
			return
		case time.Now().After(deadline):
			t.Fatalf("after 20 s: not yet so that %s", what)
		}
	}
}

// replica is another replica on the same ledger and counter, running.
func replica(t *testing.T, ledger storetest.LedgerStore, client *redis.Client, prefix string, grace time.Duration) origin.Strategy {
	t.Helper()
	s, err := strategy.New(strategy.AtomicRedis, strategy.Settings{Ledger: ledger, Redis: client, Prefix: prefix, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

// A buyer whose answer was lost asks again, and Redis has been emptied meanwhile: his hold is not one too many.
func TestAtomicRedis_FindsTheHoldOfOneWhoAsksAgainAfterRedisForgot(t *testing.T) {
	s, client, prefix := newSale(t, 1, strategy.Settings{})
	made, err := s.Strategy.Hold(t.Context(), ask("h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Del(t.Context(), keysOf(t, client, prefix)...).Err(); err != nil {
		t.Fatal(err)
	}
	again := ask("h")
	again.Repeated = true
	if reply, err := s.Strategy.Hold(t.Context(), again); err != nil || reply.Hold != made.Hold {
		t.Errorf("again: %+v %v", reply, err)
	}
	late := ask("late")
	late.Repeated = true
	if reply, err := s.Strategy.Hold(t.Context(), late); err != nil || reply.Refusal != origin.SoldOut {
		t.Errorf("another: %+v %v", reply, err)
	}
}
