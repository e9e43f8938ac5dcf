package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

func holdGroupAnswersEach(t *testing.T, l LedgerStore) {
	event(t, l, "e", 3, 2)
	replies, err := l.HoldGroup(t.Context(), "e", []origin.HoldRequest{
		request("a", "e", "x", 2), request("b", "e", "x", 1), request("c", "e", "y", 2), request("d", "e", "z", 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []origin.Refusal{origin.NotRefused, origin.LimitExceeded, origin.SoldOut, origin.NotRefused} {
		if replies[i].Refusal != want {
			t.Errorf("member %d: %q, want %q", i, replies[i].Refusal, want)
		}
	}
	read, ok, err := l.Hold(t.Context(), "a")
	if err != nil || !ok || read != replies[0].Hold || read.State != origin.HoldActive || read.Amount != 2400 {
		t.Errorf("read back %+v, answered %+v (%v)", read, replies[0].Hold, err)
	}
	if _, ok, err := l.Hold(t.Context(), "b"); ok || err != nil {
		t.Errorf("a refused member left a hold: %v", err)
	}
	wantStock(t, l, "e", 3, 0)
	if replies, err = l.HoldGroup(t.Context(), "none", []origin.HoldRequest{request("n", "none", "x", 1)}); err != nil || replies[0].Refusal != origin.NoSuchEvent {
		t.Errorf("no event: %+v %v", replies, err)
	}
}

func holdGroupNeverOversells(t *testing.T, l LedgerStore) {
	event(t, l, "e", 100, 4)
	var made atomic.Int64
	crowd(t, 20, func(g int) error {
		group := make([]origin.HoldRequest, 10)
		for i := range group {
			group[i] = request(fmt.Sprintf("h%d-%d", g, i), "e", fmt.Sprintf("b%d", i), int64(1+(g+i)%3))
		}
		replies, err := l.HoldGroup(t.Context(), "e", group)
		for _, reply := range replies {
			if reply.Refusal == origin.NotRefused {
				made.Add(reply.Hold.Quantity)
			}
		}
		return err
	})
	if made.Load() > 40 {
		t.Errorf("ten buyers with a limit of 4 got %d", made.Load())
	}
	wantStock(t, l, "e", made.Load(), 0)
}

// holdGroupIsWholeAgain: groups that are made whole, known in part, refused in part, and made whole again decide alike.
func holdGroupIsWholeAgain(t *testing.T, l LedgerStore) {
	event(t, l, "e", 6, 3)
	ask := func(want []origin.Refusal, group ...origin.HoldRequest) []origin.HoldReply {
		t.Helper()
		replies, err := l.HoldGroup(t.Context(), "e", group)
		if err != nil {
			t.Fatal(err)
		}
		for i, reply := range replies {
			if reply.Refusal != want[i] {
				t.Errorf("member %d: %q, want %q", i, reply.Refusal, want[i])
			}
			if read, _, err := l.Hold(t.Context(), group[i].ID); reply.Refusal == origin.NotRefused && (err != nil || read != reply.Hold) {
				t.Errorf("member %d: answered %+v, read back %+v (%v)", i, reply.Hold, read, err)
			}
		}
		return replies
	}
	none := origin.NotRefused
	first := []origin.HoldRequest{request("a", "e", "x", 1), request("b", "e", "y", 2), request("c", "e", "x", 1)}
	made := ask([]origin.Refusal{none, none, none}, first...)
	wantStock(t, l, "e", 4, 0)

	again := ask([]origin.Refusal{none, none, none, none}, append(first, request("d", "e", "z", 1))...)
	for i, reply := range made {
		if again[i] != reply {
			t.Errorf("asked again: %+v, was %+v", again[i], reply)
		}
	}
	ask([]origin.Refusal{origin.LimitExceeded, origin.SoldOut}, request("f", "e", "x", 2), request("g", "e", "v", 2))
	ask([]origin.Refusal{none}, request("h", "e", "v", 1))
	ask([]origin.Refusal{origin.SoldOut}, request("i", "e", "w", 1))
	wantStock(t, l, "e", 6, 0)

	if _, _, refusal, err := l.Release(t.Context(), "b", "y"); err != nil || refusal != none {
		t.Fatal(refusal, err)
	}
	ask([]origin.Refusal{none}, request("k", "e", "w", 1))
	ask([]origin.Refusal{none}, request("l", "e", "w", 1))
	wantStock(t, l, "e", 6, 0)
}

// holdGroupRejected: a member that the database cannot store undoes the group and nothing else.
func holdGroupRejected(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 10)
	if _, err := l.HoldGroup(t.Context(), "e", []origin.HoldRequest{request("a", "e", "x", 1), request("b", "e", "x", -1)}); !errors.Is(err, origin.ErrRejected) {
		t.Errorf("a negative quantity: %v", err)
	}
	wantStock(t, l, "e", 0, 0)
	hold(t, l, request("a", "e", "x", 1))
}

func holdPessimisticNeverOversells(t *testing.T, l LedgerStore) {
	neverOversells(t, l, l.HoldPessimistic)
}

func holdConditionalNeverOversells(t *testing.T, l LedgerStore) {
	neverOversells(t, l, l.HoldConditional)
}

type holdFunc func(context.Context, origin.HoldRequest) (origin.HoldReply, error)

// neverOversells is cases E1 and E2 for one way of making holds.
func neverOversells(t *testing.T, l LedgerStore, make holdFunc) {
	event(t, l, "e", 20, 2)
	var made, refused atomic.Int64
	crowd(t, 60, func(i int) error {
		reply, err := make(t.Context(), request(fmt.Sprint("h", i), "e", fmt.Sprint("b", i), 1))
		switch reply.Refusal {
		case origin.SoldOut:
			refused.Add(1)
		case origin.NotRefused:
			made.Add(1)
		}
		return err
	})
	if made.Load() != 20 || refused.Load() != 40 {
		t.Errorf("%d made, %d refused", made.Load(), refused.Load())
	}
	wantStock(t, l, "e", 20, 0)

	event(t, l, "pair", 2, 2)
	crowd(t, 10, func(i int) error {
		reply, err := make(t.Context(), request(fmt.Sprint("p", i), "pair", fmt.Sprint("b", i), 2))
		if err == nil && reply.Refusal == origin.NotRefused && reply.Hold.Quantity != 2 {
			t.Errorf("a part of it: %+v", reply)
		}
		stock, _, err2 := l.Event(t.Context(), "pair")
		if stock.Remaining() < 0 {
			t.Errorf("remaining %d", stock.Remaining())
		}
		return errors.Join(err, err2)
	})
	wantStock(t, l, "pair", 2, 0)
	if reply, err := make(t.Context(), request("n", "none", "b", 1)); err != nil || reply.Refusal != origin.NoSuchEvent {
		t.Errorf("no event: %+v %v", reply, err)
	}
}

// eachWay runs a case for every way of making holds, each on an event of its own.
func eachWay(t *testing.T, l LedgerStore, run func(t *testing.T, event string, make holdFunc)) {
	for name, make := range map[string]holdFunc{
		"pessimistic": l.HoldPessimistic,
		"conditional": l.HoldConditional,
		"group": func(ctx context.Context, r origin.HoldRequest) (origin.HoldReply, error) {
			replies, err := l.HoldGroup(ctx, r.Event, []origin.HoldRequest{r})
			if err != nil {
				return origin.HoldReply{}, err
			}
			return replies[0], nil
		},
	} {
		t.Run(name, func(t *testing.T) { run(t, name, make) })
	}
}

func holdSameIDTakesOnce(t *testing.T, l LedgerStore) {
	eachWay(t, l, func(t *testing.T, id string, make holdFunc) {
		event(t, l, id, 5, 2)
		r := request("h-"+id, id, "b", 2)
		var first origin.Hold
		for range 3 {
			reply, err := make(t.Context(), r)
			if err != nil || reply.Refusal != origin.NotRefused {
				t.Fatalf("%+v %v", reply, err)
			}
			if first.ID == "" {
				first = reply.Hold
			}
			if reply.Hold != first {
				t.Errorf("again: %+v, first %+v", reply.Hold, first)
			}
		}
		crowd(t, 8, func(int) error {
			_, err := make(t.Context(), request("same-"+id, id, "other", 1))
			return err
		})
		wantStock(t, l, id, 3, 0)
	})
}

// holdLimitCountsAll is the second half of case E4.
func holdLimitCountsAll(t *testing.T, l LedgerStore) {
	eachWay(t, l, func(t *testing.T, id string, make holdFunc) {
		event(t, l, id, 50, 3)
		for i, c := range []struct {
			quantity int64
			want     origin.Refusal
		}{{4, origin.LimitExceeded}, {1_000_000_000, origin.LimitExceeded}, {2, origin.NotRefused}, {2, origin.LimitExceeded}, {1, origin.NotRefused}, {1, origin.LimitExceeded}} {
			reply, err := make(t.Context(), request(fmt.Sprint(id, i), id, "b", c.quantity))
			if err != nil || reply.Refusal != c.want {
				t.Errorf("%d more: %+v %v, want %q", c.quantity, reply, err, c.want)
			}
		}
		wantStock(t, l, id, 3, 0)
		crowd(t, 12, func(i int) error {
			_, err := make(t.Context(), request(fmt.Sprint(id, "crowd", i), id, "crowd", 1))
			return err
		})
		wantStock(t, l, id, 6, 0)
	})
}

// holdEndsByTheClock is case E10: only the database's clock counts.
func holdEndsByTheClock(t *testing.T, l LedgerStore) {
	eachWay(t, l, func(t *testing.T, id string, make holdFunc) {
		event(t, l, id, 5, 5)
		r := request("h-"+id, id, "b", 1)
		r.TTL = 5 * time.Minute
		before, errBefore := l.Clock(t.Context())
		reply, err := make(t.Context(), r)
		after, errAfter := l.Clock(t.Context())
		if err := errors.Join(errBefore, err, errAfter); err != nil {
			t.Fatal(err)
		}
		if from := reply.Hold.CreatedAt; from.Before(before) || from.After(after) {
			t.Errorf("made at %v, between %v and %v", from, before, after)
		}
		if reply.Hold.ExpiresAt.Sub(reply.Hold.CreatedAt) != r.TTL {
			t.Errorf("from %v to %v", reply.Hold.CreatedAt, reply.Hold.ExpiresAt)
		}
	})
}

func voidIsATombstone(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 5)
	r := request("h", "e", "b", 2)
	holds, err := l.Void(t.Context(), "e", []origin.HoldRequest{r}, origin.SoldOut)
	if err != nil || holds["h"].State != origin.HoldRefused || holds["h"].Reason != origin.SoldOut {
		t.Fatalf("void: %+v %v", holds, err)
	}
	eachWay(t, l, func(t *testing.T, _ string, make holdFunc) {
		if reply, err := make(t.Context(), r); err != nil || reply.Refusal != origin.SoldOut {
			t.Errorf("a void hold was made: %+v %v", reply, err)
		}
	})
	wantStock(t, l, "e", 0, 0)
}

func voidLeavesAHold(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 5)
	made := hold(t, l, request("h", "e", "b", 2))
	holds, err := l.Void(t.Context(), "e", []origin.HoldRequest{request("h", "e", "b", 2), request("i", "e", "b", 1)}, origin.SoldOut)
	if err != nil || holds["h"] != made || holds["i"].State != origin.HoldRefused {
		t.Errorf("void: %+v %v", holds, err)
	}
	wantStock(t, l, "e", 2, 0)
}

func standingReads(t *testing.T, l LedgerStore) {
	event(t, l, "e", 5, 5)
	made := hold(t, l, request("h", "e", "b", 2))
	stock, holds, err := l.Standing(t.Context(), "e", []string{"h", "none"})
	if err != nil || stock.Remaining() != 3 || len(holds) != 1 || holds["h"] != made {
		t.Errorf("standing: %+v %+v %v", stock, holds, err)
	}
	if stock, holds, err = l.Standing(t.Context(), "none", nil); err != nil || stock.ID != "" || len(holds) != 0 {
		t.Errorf("no event: %+v %+v %v", stock, holds, err)
	}
}
