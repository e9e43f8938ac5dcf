package strategy

import (
	"context"
	"errors"
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

// holdGroup writes a group. A lost answer is not repeated blindly: HoldGroup begins with the lock that the lost
// transaction held, and finds what that one did by the ids. A group that the database rejects is halved until the member
// that it cannot store stands alone.
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
		cancel()
		if err == nil || errors.Is(err, origin.ErrRejected) {
			return replies, err
		}
	}
	return nil, err
}
