package storetest

import (
	"errors"
	"fmt"
	"testing"

	"foyer/origin"
)

// moveGroupOneByOne grants a group in which each wish meets what the ones before it have left.
func moveGroupOneByOne(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 10)
	event(t, l, "other", 10, 10)
	hold(t, l, request("back", "e", "anna", 2))
	hold(t, l, request("elsewhere", "other", "anna", 1))
	for _, id := range []string{"bought", "declined"} {
		pay(t, l, "pay "+id, hold(t, l, request(id, "e", "anna", 1)))
	}
	paid := origin.Wish{Hold: "bought", Settle: origin.Settlement{Attempt: "pay bought", State: origin.AttemptPaid, Charge: "ch"}}
	granted, err := l.MoveGroup(t.Context(), "e", []origin.Wish{
		{Hold: "back", Buyer: "anna"}, {Hold: "back", Buyer: "anna"}, {Hold: "back", Buyer: "bert"},
		paid, paid, {Hold: "bought", Buyer: "anna"},
		{Hold: "declined", Buyer: "anna"},
		{Hold: "declined", Settle: origin.Settlement{Attempt: "pay declined", State: origin.AttemptDeclined, Reason: "no"}},
		{Hold: "declined", Buyer: "anna"},
		{Hold: "none", Buyer: "anna"}, {Hold: "bought", Settle: origin.Settlement{Attempt: "none", State: origin.AttemptPaid}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		refusal origin.Refusal
		state   origin.HoldState
		freed   bool
		changed bool
	}{
		{"", origin.HoldReleased, true, false}, {"", origin.HoldReleased, false, false}, {origin.NoSuchHold, "", false, false},
		{"", origin.HoldSold, false, true}, {"", origin.HoldSold, false, false}, {origin.AlreadyPaid, origin.HoldSold, false, false},
		{origin.PaymentInProgress, origin.HoldPaying, false, false},
		{"", origin.HoldActive, false, true},
		{"", origin.HoldReleased, true, false},
		{origin.NoSuchHold, "", false, false}, {"", "", false, false},
	} {
		g := granted[i]
		if g.Refusal != want.refusal || g.Hold.State != want.state || (g.Freed != nil) != want.freed || g.Changed != want.changed {
			t.Errorf("wish %d: %+v, want %+v", i, g, want)
		}
	}
	if granted[3].Order.ID == "" || granted[4].Order != granted[3].Order {
		t.Errorf("orders %+v and %+v", granted[3].Order, granted[4].Order)
	}
	if order, ok, err := l.Order(t.Context(), granted[3].Order.ID); err != nil || !ok || order != granted[3].Order {
		t.Errorf("read back %+v %v %v, answered %+v", order, ok, err, granted[3].Order)
	}
	wantStock(t, l, "e", 0, 1)
	wantStock(t, l, "other", 1, 0)
	wantSound(t, l)
}

// moveGroupRejected: a wish that the database cannot write undoes the group and nothing else.
func moveGroupRejected(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 10)
	var wishes []origin.Wish
	for i := range 3 {
		id := fmt.Sprint("h", i)
		pay(t, l, "pay "+id, hold(t, l, request(id, "e", "b", 1)))
		wishes = append(wishes, origin.Wish{Hold: id, Settle: origin.Settlement{Attempt: "pay " + id, State: origin.AttemptPaid}})
	}
	if err := l.Exec(t.Context(), `update events set held = 0 where id = 'e'`); err != nil {
		t.Fatal(err)
	}
	if _, err := l.MoveGroup(t.Context(), "e", wishes); !errors.Is(err, origin.ErrRejected) {
		t.Errorf("more given back than was held: %v", err)
	}
	if err := l.Exec(t.Context(), `update events set held = 3 where id = 'e'`); err != nil {
		t.Fatal(err)
	}
	wantStock(t, l, "e", 3, 0)
	if _, err := l.MoveGroup(t.Context(), "e", wishes); err != nil {
		t.Error(err)
	}
	wantStock(t, l, "e", 0, 3)
	wantSound(t, l)
}
