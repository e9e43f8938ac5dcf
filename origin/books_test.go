package origin_test

import (
	"testing"
	"time"

	"foyer/origin"
)

func books(hold origin.HoldState, attempt origin.AttemptState) origin.Books {
	now := time.Unix(1000, 0)
	return origin.Books{
		Now:     now,
		Stock:   origin.Stock{Event: origin.Event{ID: "e", Capacity: 5, MaxPerBuyer: 4}, Held: 2},
		Units:   2,
		Hold:    origin.Hold{ID: "h", Event: "e", Buyer: "b", Quantity: 2, State: hold, ExpiresAt: now.Add(time.Second)},
		Attempt: origin.Attempt{ID: "a", Hold: "h", State: attempt},
	}
}

func TestSettle_MovesByWhatStands(t *testing.T) {
	const paid, declined, canceled, due = origin.AttemptPaid, origin.AttemptDeclined, origin.AttemptCanceled, origin.AttemptRefundDue
	for _, c := range []struct {
		name    string
		hold    origin.HoldState
		attempt origin.AttemptState
		word    origin.AttemptState
		want    origin.Move
	}{
		{"paid", origin.HoldPaying, origin.AttemptOpen, paid, origin.Move{Held: -2, Sold: 2, Hold: origin.HoldSold, Attempt: paid, Order: true}},
		{"declined", origin.HoldPaying, origin.AttemptOpen, declined, origin.Move{Hold: origin.HoldActive, Attempt: declined}},
		{"canceled", origin.HoldPaying, origin.AttemptOpen, canceled, origin.Move{Hold: origin.HoldActive, Attempt: canceled}},
		{"paid again", origin.HoldSold, paid, paid, origin.Move{}},
		{"declined after paid", origin.HoldSold, paid, declined, origin.Move{}},
		{"paid after declined", origin.HoldActive, declined, paid, origin.Move{Held: -2, Sold: 2, Hold: origin.HoldSold, Attempt: paid, Order: true}},
		{"paid after expired", origin.HoldExpired, canceled, paid, origin.Move{Sold: 2, Units: 2, Hold: origin.HoldSold, Attempt: paid, Order: true}},
		{"paid twice for one hold", origin.HoldSold, origin.AttemptOpen, paid, origin.Move{Attempt: due}},
		{"declined for a sold hold", origin.HoldSold, origin.AttemptOpen, declined, origin.Move{Attempt: declined}},
		{"paid after refunded", origin.HoldSold, origin.AttemptRefunded, paid, origin.Move{}},
	} {
		if got := books(c.hold, c.attempt).Settle(origin.Settlement{Attempt: "a", State: c.word}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSettle_DeclinedAfterTheHoldsTimeFreesItsUnits(t *testing.T) {
	b := books(origin.HoldPaying, origin.AttemptOpen)
	b.Now = b.Hold.ExpiresAt
	move := b.Settle(origin.Settlement{State: origin.AttemptDeclined, Reason: "no"})
	after := b.Apply(move, "")
	settled := after.Settled(move)
	if after.Stock.Held != 0 || after.Units != 0 || settled.Hold.State != origin.HoldExpired || settled.Attempt.Reason != "no" {
		t.Errorf("after: %+v", after)
	}
	if settled.Freed == nil || *settled.Freed != (origin.Ended{Hold: "h", Event: "e", Quantity: 2}) {
		t.Errorf("freed: %+v", settled.Freed)
	}
}

func TestSettle_PaidWithNoSeatLeftIsDueARefund(t *testing.T) {
	b := books(origin.HoldExpired, origin.AttemptCanceled)
	b.Stock.Sold, b.Stock.Held, b.Units = 4, 0, 0
	if move := b.Settle(origin.Settlement{State: origin.AttemptPaid, Charge: "ch"}); move != (origin.Move{Attempt: origin.AttemptRefundDue, Charge: "ch"}) {
		t.Errorf("no capacity: %+v", move)
	}
	b.Stock.Sold, b.Units = 0, 3
	if move := b.Settle(origin.Settlement{State: origin.AttemptPaid}); move.Attempt != origin.AttemptRefundDue {
		t.Errorf("over the limit: %+v", move)
	}
}

func TestStart_RefusesByTheHoldsState(t *testing.T) {
	start := origin.PaymentStart{Attempt: "new", Hold: "h", Buyer: "b"}
	for state, want := range map[origin.HoldState]origin.Refusal{
		origin.HoldActive: origin.NotRefused, origin.HoldPaying: origin.PaymentPending, origin.HoldSold: origin.AlreadyPaid,
		origin.HoldExpired: origin.HoldIsExpired, origin.HoldReleased: origin.HoldIsExpired, origin.HoldRefused: origin.HoldIsExpired,
		origin.HoldPending: origin.NoSuchHold,
	} {
		move, refusal := books(state, origin.AttemptDeclined).Start(start)
		if refusal != want || (move.Hold == origin.HoldPaying) != (want == origin.NotRefused) {
			t.Errorf("%s: %+v %q, want %q", state, move, refusal, want)
		}
	}
	b := books(origin.HoldActive, "")
	b.Now = b.Hold.ExpiresAt
	if _, refusal := b.Start(start); refusal != origin.HoldIsExpired {
		t.Errorf("lapsed: %q", refusal)
	}
	if _, refusal := b.Start(origin.PaymentStart{Attempt: "new", Hold: "h", Buyer: "other"}); refusal != origin.NoSuchHold {
		t.Errorf("another buyer: %q", refusal)
	}
	if move, refusal := books(origin.HoldSold, origin.AttemptPaid).Start(origin.PaymentStart{Attempt: "a", Hold: "h", Buyer: "b"}); move != (origin.Move{}) || refusal != origin.NotRefused {
		t.Errorf("the same attempt: %+v %q", move, refusal)
	}
}

func TestRelease_AnswersByTheHoldsState(t *testing.T) {
	for state, want := range map[origin.HoldState]origin.Refusal{
		origin.HoldActive: origin.NotRefused, origin.HoldPaying: origin.PaymentInProgress, origin.HoldSold: origin.AlreadyPaid,
		origin.HoldExpired: origin.NotRefused, origin.HoldReleased: origin.NotRefused,
	} {
		move, refusal := books(state, "").Release("b")
		if refusal != want || move.Frees() != (state == origin.HoldActive) {
			t.Errorf("%s: %+v %q, want %q", state, move, refusal, want)
		}
	}
	if _, refusal := books(origin.HoldActive, "").Release("other"); refusal != origin.NoSuchHold {
		t.Errorf("another buyer: %q", refusal)
	}
}
