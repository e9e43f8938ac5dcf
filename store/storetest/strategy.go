package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

// Shelf is a strategy with its ledger, both empty.
type Shelf struct {
	Strategy origin.Strategy
	Ledger   LedgerStore
}

// strategyCases are the contract of a strategy, each on a shelf of its own.
var strategyCases = []struct {
	name string
	run  func(t *testing.T, s Shelf)
}{
	{"Hold_SellsExactlyTheCapacity", sellsExactly},
	{"Hold_AnswersPairsWholeOrNotAtAll", sellsPairs},
	{"Hold_SameIDTakesOnce", strategySameID},
	{"Hold_KeepsTheBuyersLimit", strategyLimit},
	{"Hold_IsNotSoldOutForWhomTheLimitStops", limitIsNotSoldOut},
	{"Hold_KnowsNoEvent", strategyNoEvent},
	{"GaveBack_UnitsAreSoldAgain", soldAgain},
	{"Reconcile_FindsNothingAfterASale", reconcileFindsNothing},
	{"Resize_UpDuringASaleSellsTheNewCapacity", resizeDuringASale},
}

// Strategy is the suite of origin.Strategy.
func Strategy(t *testing.T, open func(t *testing.T) Shelf) {
	for _, c := range strategyCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// Rush lets buyers ask for one unit each at the same moment, and counts who got one.
func Rush(t *testing.T, s origin.Strategy, event string, buyers int) (made int64) {
	t.Helper()
	var got atomic.Int64
	crowd(t, buyers, func(i int) error {
		reply, err := s.Hold(t.Context(), request(fmt.Sprint(event, "-", i), event, fmt.Sprint("buyer", i), 1))
		if err == nil && reply.Refusal == origin.NotRefused {
			got.Add(1)
		}
		return err
	})
	return got.Load()
}

// sellsExactly is case E1: 500 buyers at a barrier, 100 tickets.
func sellsExactly(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 100, 4)
	if made := Rush(t, s.Strategy, "e", 500); made != 100 {
		t.Errorf("%d of 100 sold", made)
	}
	wantStock(t, s.Ledger, "e", 100, 0)
}

// sellsPairs is case E2.
func sellsPairs(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 2, 2)
	var made, refused atomic.Int64
	crowd(t, 10, func(i int) error {
		reply, err := s.Strategy.Hold(t.Context(), request(fmt.Sprint("h", i), "e", fmt.Sprint("b", i), 2))
		switch {
		case err == nil && reply.Refusal == origin.NotRefused:
			made.Add(1)
		case reply.Refusal == origin.SoldOut:
			refused.Add(1)
		}
		return err
	})
	if made.Load() != 1 || refused.Load() != 9 {
		t.Errorf("%d made, %d refused", made.Load(), refused.Load())
	}
	wantStock(t, s.Ledger, "e", 2, 0)
}

func strategySameID(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 10, 4)
	crowd(t, 20, func(int) error {
		reply, err := s.Strategy.Hold(t.Context(), request("h", "e", "b", 2))
		if err == nil && (reply.Refusal != origin.NotRefused || reply.Hold.ID != "h" || reply.Hold.State != origin.HoldActive) {
			t.Errorf("reply %+v", reply)
		}
		return err
	})
	wantStock(t, s.Ledger, "e", 2, 0)
	wantNoDrift(t, s.Strategy, "e")
}

func strategyLimit(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 10, 3)
	for i, c := range []struct {
		quantity int64
		want     origin.Refusal
	}{{4, origin.LimitExceeded}, {1_000_000_000, origin.LimitExceeded}, {2, origin.NotRefused}, {2, origin.LimitExceeded}, {1, origin.NotRefused}} {
		reply, err := s.Strategy.Hold(t.Context(), request(fmt.Sprint("h", i), "e", "b", c.quantity))
		if err != nil || reply.Refusal != c.want {
			t.Errorf("%d more: %+v %v, want %q", c.quantity, reply, err, c.want)
		}
	}
	wantStock(t, s.Ledger, "e", 3, 0)
	wantNoDrift(t, s.Strategy, "e")
}

// limitIsNotSoldOut lets a buyer ask for more than he may have while he gives some back: there are plenty.
func limitIsNotSoldOut(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 1000, 1)
	const clients, rounds = 4, 25
	crowd(t, clients, func(client int) error {
		for i := range rounds {
			id := fmt.Sprintf("h%d-%d", client, i)
			reply, err := s.Strategy.Hold(t.Context(), request(id, "e", "b", 1))
			if err != nil {
				return err
			}
			if reply.Refusal != origin.NotRefused {
				if reply.Refusal != origin.LimitExceeded {
					return fmt.Errorf("refused: %s", reply.Refusal)
				}
				continue
			}
			if _, _, _, err := s.Ledger.Release(t.Context(), id, "b"); err != nil {
				return err
			}
			if err := s.Strategy.GaveBack(t.Context(), origin.Ended{Hold: id, Event: "e", Quantity: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

func strategyNoEvent(t *testing.T, s Shelf) {
	if reply, err := s.Strategy.Hold(t.Context(), request("h", "none", "b", 1)); err != nil || reply.Refusal != origin.NoSuchEvent {
		t.Errorf("%+v %v", reply, err)
	}
	if _, ok, err := s.Strategy.Pending(t.Context(), "h"); ok || err != nil {
		t.Errorf("pending: %v %v", ok, err)
	}
}

func soldAgain(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 5, 5)
	if made := Rush(t, s.Strategy, "e", 10); made != 5 {
		t.Fatalf("%d of 5 sold", made)
	}
	var freed int64
	for i := range 10 {
		id := fmt.Sprint("e-", i)
		h, did, _, err := s.Ledger.Release(t.Context(), id, fmt.Sprint("buyer", i))
		if err != nil {
			t.Fatal(err)
		}
		if !did {
			continue
		}
		freed++
		for range 2 { // told twice, given back once
			if err := s.Strategy.GaveBack(t.Context(), origin.Ended{Hold: id, Event: "e", Quantity: h.Quantity}); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantNoDrift(t, s.Strategy, "e")
	var made int64
	for i := range 10 {
		reply, err := s.Strategy.Hold(t.Context(), request(fmt.Sprint("again", i), "e", "b", 1))
		if err != nil {
			t.Fatal(err)
		}
		if reply.Refusal == origin.NotRefused {
			made++
		}
	}
	if freed != 5 || made != 5 {
		t.Errorf("%d freed, %d sold again", freed, made)
	}
}

func reconcileFindsNothing(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 20, 4)
	Rush(t, s.Strategy, "e", 40)
	report, err := s.Strategy.Reconcile(t.Context(), "e")
	if err != nil || report.StrandedReturned != 0 || report.DriftBefore != 0 || report.DriftAfter != 0 || report.Pending != 0 {
		t.Errorf("report %+v %v", report, err)
	}
}

// resizeDuringASale is the second half of case E12.
func resizeDuringASale(t *testing.T, s Shelf) {
	event(t, s.Ledger, "e", 20, 4)
	var made atomic.Int64
	crowd(t, 121, func(i int) error {
		if i == 60 {
			if _, _, err := s.Ledger.Resize(t.Context(), "e", 50); err != nil {
				return err
			}
			_, err := s.Strategy.Reconcile(t.Context(), "e")
			return err
		}
		reply, err := s.Strategy.Hold(t.Context(), request(fmt.Sprint("h", i), "e", fmt.Sprint("b", i), 1))
		if err == nil && reply.Refusal == origin.NotRefused {
			made.Add(1)
		}
		return err
	})
	if _, err := s.Strategy.Reconcile(t.Context(), "e"); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if reply, err := s.Strategy.Hold(t.Context(), request(fmt.Sprint("late", i), "e", fmt.Sprint("late", i), 1)); err != nil {
			t.Fatal(err)
		} else if reply.Refusal == origin.NotRefused {
			made.Add(1)
		}
	}
	if made.Load() != 50 {
		t.Errorf("%d of 50 sold", made.Load())
	}
	wantStock(t, s.Ledger, "e", 50, 0)
}

// wantNoDrift checks what the strategy keeps beside the ledger, once what it does behind its answers is done.
func wantNoDrift(t *testing.T, s origin.Strategy, event string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		report, err := s.Compare(context.WithoutCancel(t.Context()), event)
		switch even := report.DriftBefore == 0 && report.Pending == 0; {
		case err == nil && even:
			return
		case err != nil || time.Now().After(deadline):
			t.Fatalf("compare: %+v %v", report, err)
		}
	}
}
