package origin_test

import (
	"testing"
	"time"

	"foyer/origin"
)

func group(capacity, limit int64) origin.Group {
	stock := origin.Stock{Event: origin.Event{ID: "e", Capacity: capacity, Amount: 5, Currency: "eur", MaxPerBuyer: limit}}
	return origin.Group{Now: time.Unix(1000, 0), Stock: stock}
}

func TestAllocate_AnswersInOrderEachWholeOrNotAtAll(t *testing.T) {
	got := group(3, 3).Allocate([]origin.HoldRequest{
		{ID: "a", Event: "e", Buyer: "x", Quantity: 2, TTL: time.Minute},
		{ID: "b", Event: "e", Buyer: "y", Quantity: 2},
		{ID: "c", Event: "e", Buyer: "x", Quantity: 2},
		{ID: "d", Event: "e", Buyer: "z", Quantity: 1},
		{ID: "a", Event: "e", Buyer: "x", Quantity: 2},
	})
	want := []origin.Refusal{origin.NotRefused, origin.SoldOut, origin.LimitExceeded, origin.NotRefused, origin.NotRefused}
	for i, reply := range got.Replies {
		if reply.Refusal != want[i] {
			t.Errorf("request %d: %q, want %q", i, reply.Refusal, want[i])
		}
	}
	if got.Held != 3 || len(got.Made) != 2 || got.Units["x"] != 2 || got.Units["z"] != 1 {
		t.Errorf("allocation: %+v", got)
	}
	if hold := got.Replies[4].Hold; hold != got.Replies[0].Hold || hold.Amount != 10 || !hold.ExpiresAt.Equal(time.Unix(1060, 0)) {
		t.Errorf("the repeated request: %+v", hold)
	}
}

func TestAllocate_AnswersKnownHoldsAsTheyStand(t *testing.T) {
	g := group(1, 1)
	g.Known = map[string]origin.Hold{
		"a": {ID: "a", State: origin.HoldSold},
		"b": {ID: "b", State: origin.HoldRefused, Reason: origin.SoldOut},
	}
	got := g.Allocate([]origin.HoldRequest{{ID: "a", Quantity: 1}, {ID: "b", Quantity: 1}})
	if got.Replies[0].Hold.State != origin.HoldSold || got.Replies[0].Refusal != origin.NotRefused {
		t.Errorf("sold: %+v", got.Replies[0])
	}
	if got.Replies[1].Refusal != origin.SoldOut || got.Held != 0 {
		t.Errorf("refused: %+v", got.Replies[1])
	}
}

func TestAllocate_RefusesAnUnknownEventAndNumbersBeyondReason(t *testing.T) {
	if got := (origin.Group{}).Allocate([]origin.HoldRequest{{ID: "a", Quantity: 1}}); got.Replies[0].Refusal != origin.NoSuchEvent {
		t.Errorf("no event: %+v", got.Replies)
	}
	got := group(5, 1<<62).Allocate([]origin.HoldRequest{{ID: "a", Quantity: 1<<63 - 1}, {ID: "b", Quantity: 1 << 61}})
	if got.Replies[0].Refusal != origin.LimitExceeded || got.Replies[1].Refusal != origin.SoldOut {
		t.Errorf("huge: %+v", got.Replies)
	}
}
