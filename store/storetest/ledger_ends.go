package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

// raceTTL ends about when the racers of exactlyOneWins start.
const raceTTL = 500 * time.Microsecond

func releaseFreesOnce(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 2)
	h := hold(t, l, request("h", "e", "b", 2))
	if _, _, refusal, err := l.Release(t.Context(), "h", "other"); err != nil || refusal != origin.NoSuchHold {
		t.Errorf("another buyer: %q %v", refusal, err)
	}
	if _, _, refusal, err := l.Release(t.Context(), "none", "b"); err != nil || refusal != origin.NoSuchHold {
		t.Errorf("no hold: %q %v", refusal, err)
	}
	var freed atomic.Int64
	crowd(t, 8, func(int) error {
		got, did, refusal, err := l.Release(t.Context(), "h", "b")
		if did {
			freed.Add(1)
		}
		if err == nil && (refusal != origin.NotRefused || got.State != origin.HoldReleased || got.ID != h.ID) {
			t.Errorf("release: %+v %q", got, refusal)
		}
		return err
	})
	if freed.Load() != 1 {
		t.Errorf("freed %d times", freed.Load())
	}
	wantStock(t, l, "e", 0, 0)
	hold(t, l, request("i", "e", "b", 2)) // the buyer's limit is free again too
}

// expireTwoReapers is case E5.
func expireTwoReapers(t *testing.T, l LedgerStore) {
	var last origin.Hold
	for _, id := range []string{"e", "f"} {
		event(t, l, id, 50, 50)
		for i := range 50 {
			r := request(fmt.Sprint(id, i), id, fmt.Sprint("b", i%7), 1)
			r.TTL = 1
			last = hold(t, l, r)
		}
	}
	lapse(t, l, last.ExpiresAt)
	var ended [2]map[string]bool
	crowd(t, 2, func(reaper int) error {
		ended[reaper] = map[string]bool{}
		for {
			some, err := l.Expire(t.Context(), 7)
			if err != nil || len(some) == 0 {
				return err
			}
			for _, e := range some {
				ended[reaper][e.Hold] = true
			}
		}
	})
	for id := range ended[0] {
		if ended[1][id] {
			t.Errorf("%s was ended twice", id)
		}
	}
	// A reaper stops early where the other one holds what it looks at, so what is left is ended here.
	rest := 0
	for {
		some, err := l.Expire(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			break
		}
		rest += len(some)
	}
	if n := len(ended[0]) + len(ended[1]) + rest; n != 100 {
		t.Errorf("%d of 100 ended", n)
	}
	wantStock(t, l, "e", 0, 0)
	wantStock(t, l, "f", 0, 0)
}

func expireLeavesPaying(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 5)
	pay(t, l, "attempt", hold(t, l, request("a", "e", "b", 1)))
	overdue(t, l, "a")
	hold(t, l, request("living", "e", "b", 1))
	var last origin.Hold
	for i := range 3 {
		r := request(fmt.Sprint("lapsed", i), "e", "b", 1)
		r.TTL = 1
		last = hold(t, l, r)
	}
	lapse(t, l, last.ExpiresAt)
	some, err := l.Expire(t.Context(), 2)
	if err != nil || len(some) != 2 || some[0].Event != "e" || some[0].Quantity != 1 {
		t.Errorf("two of them: %+v %v", some, err)
	}
	if some, err = l.Expire(t.Context(), 10); err != nil || len(some) != 1 {
		t.Errorf("the rest: %+v %v", some, err)
	}
	wantStock(t, l, "e", 2, 0)
	if got, _, _ := l.Hold(t.Context(), "a"); got.State != origin.HoldPaying {
		t.Errorf("the one in payment: %+v", got)
	}
}

// exactlyOneWins is case E6: the buyer gives back, pays, and the reaper comes, all at once, 200 times over.
func exactlyOneWins(t *testing.T, l LedgerStore) {
	event(t, l, "e", 1000, 1000)
	sold := int64(0)
	for round := range 200 {
		r := request(fmt.Sprint("h", round), "e", "b", 1)
		r.TTL = raceTTL
		h := hold(t, l, r)
		attempt := fmt.Sprint("a", round)
		var wins atomic.Int64
		crowd(t, 3, func(who int) error {
			switch who {
			case 0:
				_, freed, _, err := l.Release(t.Context(), h.ID, "b")
				if freed {
					wins.Add(1)
				}
				return err
			case 1:
				ended, err := l.Expire(t.Context(), 10)
				wins.Add(int64(len(ended)))
				return err
			default:
				reply, err := l.StartPayment(t.Context(), origin.PaymentStart{Attempt: attempt, Hold: h.ID, Buyer: "b"})
				if err == nil && reply.Refusal == origin.NotRefused {
					wins.Add(1)
				}
				return err
			}
		})
		got, _, err := l.Hold(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch got.State {
		case origin.HoldPaying:
			settle(t, l, attempt, origin.AttemptPaid)
			sold++
		case origin.HoldActive: // it lapsed after the reaper looked, and nobody else came
			_, freed, _, err := l.Release(t.Context(), h.ID, "b")
			if err != nil || !freed {
				t.Fatalf("release: %v %v", freed, err)
			}
			wins.Add(1)
		}
		if wins.Load() != 1 {
			t.Fatalf("round %d: %d winners, state %s", round, wins.Load(), got.State)
		}
	}
	wantStock(t, l, "e", 0, sold)
}
