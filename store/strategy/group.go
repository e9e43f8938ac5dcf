package strategy

import (
	"context"
	"errors"
	"maps"
	"time"

	"foyer/origin"
)

const (
	// groupTimeout bounds one try of a group: longer than the database's own limits, so that it normally speaks first.
	groupTimeout = 12 * time.Second
	// groupTries is how often a group is given to a ledger that does not answer.
	groupTries = 3
	// groupPause is the pause before a repetition, times the tries made.
	groupPause = 20 * time.Millisecond
)

// holdGroup writes a group. A lost answer is not repeated blindly: HoldGroup finds what the lost try did by the ids, and
// where that one is still to come it finds those of the repetition. A group that the database rejects is halved until the
// member that it cannot store stands alone.
func holdGroup(ledger Ledger, event string, requests []origin.HoldRequest) []outcome[origin.HoldReply] {
	replies, err := tryGroup(ledger, event, requests)
	if errors.Is(err, origin.ErrRejected) && len(requests) > 1 {
		half := len(requests) / 2
		return append(holdGroup(ledger, event, requests[:half]), holdGroup(ledger, event, requests[half:])...)
	}
	out := make([]outcome[origin.HoldReply], len(requests))
	for i := range out {
		if err != nil {
			out[i].err = err
			continue
		}
		out[i].answer = replies[i]
	}
	return out
}

// tryGroup belongs to no single caller, so it runs under a deadline of its own.
func tryGroup(ledger Ledger, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error) {
	var err error
	for try := range groupTries {
		if try > 0 {
			time.Sleep(time.Duration(try) * groupPause)
		}
		ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
		var replies []origin.HoldReply
		replies, err = ledger.HoldGroup(ctx, event, requests)
		if err == nil && try > 0 {
			err = bury(ctx, ledger, event, requests, replies)
		}
		cancel()
		if err == nil || errors.Is(err, origin.ErrRejected) {
			return replies, err
		}
	}
	return nil, err
}

// bury sees to it that holds which a repetition has refused are not made by the lost try, should the network deliver it
// later: their ids get tombstones. One that it has made by now is the answer instead.
func bury(ctx context.Context, ledger Ledger, event string, requests []origin.HoldRequest, replies []origin.HoldReply) error {
	refused := map[origin.Refusal][]origin.HoldRequest{}
	for i, reply := range replies {
		if reply.Refusal != origin.NotRefused && reply.Hold.ID == "" {
			refused[reply.Refusal] = append(refused[reply.Refusal], requests[i])
		}
	}
	standing := map[string]origin.Hold{}
	for refusal, some := range refused {
		holds, err := ledger.Void(ctx, event, some, refusal)
		if err != nil {
			return err
		}
		maps.Copy(standing, holds)
	}
	for i, request := range requests {
		if hold, ok := standing[request.ID]; ok {
			replies[i] = origin.HoldReply{Hold: hold, Refusal: hold.Reason}
		}
	}
	return nil
}
