package strategy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"foyer/origin"
)

// fakeLedger answers groups by a function, and has these holds for those who void them.
type fakeLedger struct {
	Ledger
	holdGroup func(requests []origin.HoldRequest) ([]origin.HoldReply, error)
	holds     map[string]origin.Hold
}

func (f fakeLedger) HoldGroup(_ context.Context, _ string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	return f.holdGroup(requests)
}

func (f fakeLedger) Void(_ context.Context, _ string, requests []origin.HoldRequest, reason origin.Refusal) (map[string]origin.Hold, error) {
	standing := map[string]origin.Hold{}
	for _, r := range requests {
		hold, ok := f.holds[r.ID]
		if !ok {
			hold = origin.Hold{ID: r.ID, State: origin.HoldRefused, Reason: reason}
		}
		standing[r.ID] = hold
	}
	return standing, nil
}

func TestHoldGroup_AMemberThatCannotBeWrittenFailsAlone(t *testing.T) {
	ledger := fakeLedger{holdGroup: func(requests []origin.HoldRequest) ([]origin.HoldReply, error) {
		replies := make([]origin.HoldReply, len(requests))
		for i, r := range requests {
			if r.Quantity < 0 {
				return nil, origin.ErrRejected
			}
			replies[i].Hold.ID = r.ID
		}
		return replies, nil
	}}
	requests := []origin.HoldRequest{{ID: "a", Quantity: 1}, {ID: "b", Quantity: 1}, {ID: "c", Quantity: -1}, {ID: "d", Quantity: 1}, {ID: "e", Quantity: 1}}
	for i, o := range holdGroup(ledger, "e", requests) {
		if requests[i].Quantity < 0 {
			if !errors.Is(o.err, origin.ErrRejected) {
				t.Errorf("%s: %v", requests[i].ID, o.err)
			}
		} else if o.err != nil || o.answer.Hold.ID != requests[i].ID {
			t.Errorf("%s: %+v", requests[i].ID, o)
		}
	}
}

func TestHoldGroup_AsksAgainAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		ledger := fakeLedger{holdGroup: func(requests []origin.HoldRequest) ([]origin.HoldReply, error) {
			if tries++; tries < groupTries {
				return nil, errors.New("the connection was lost")
			}
			return make([]origin.HoldReply, len(requests)), nil
		}}
		out := holdGroup(ledger, "e", make([]origin.HoldRequest, 3))
		if len(out) != 3 || out[0].err != nil || tries != groupTries {
			t.Errorf("%d tries: %+v", tries, out)
		}
	})
}

func TestHoldGroup_ARefusalAfterALostAnswerIsForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := true
		late := origin.Hold{ID: "late", State: origin.HoldActive}
		ledger := fakeLedger{holds: map[string]origin.Hold{"late": late}, holdGroup: func([]origin.HoldRequest) ([]origin.HoldReply, error) {
			if lost {
				lost = false
				return nil, errors.New("the connection was lost")
			}
			return []origin.HoldReply{{Hold: origin.Hold{ID: "made"}}, {Refusal: origin.SoldOut}, {Refusal: origin.SoldOut}, {Refusal: origin.LimitExceeded}}, nil
		}}
		out := holdGroup(ledger, "e", []origin.HoldRequest{{ID: "made"}, {ID: "late"}, {ID: "refused"}, {ID: "limited"}})
		for i, want := range []origin.HoldReply{
			{Hold: origin.Hold{ID: "made"}},
			{Hold: late},
			{Hold: origin.Hold{ID: "refused", State: origin.HoldRefused, Reason: origin.SoldOut}, Refusal: origin.SoldOut},
			{Hold: origin.Hold{ID: "limited", State: origin.HoldRefused, Reason: origin.LimitExceeded}, Refusal: origin.LimitExceeded},
		} {
			if out[i].err != nil || out[i].answer != want {
				t.Errorf("member %d: %+v, want %+v", i, out[i], want)
			}
		}
	})
}
