package strategy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"foyer/origin"
)

// fakeLedger answers groups by a function.
type fakeLedger struct {
	Ledger
	holdGroup func(requests []origin.HoldRequest) ([]origin.HoldReply, error)
}

func (f fakeLedger) HoldGroup(_ context.Context, _ string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	return f.holdGroup(requests)
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
