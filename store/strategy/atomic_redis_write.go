package strategy

import (
	"context"
	"errors"
	"maps"

	"go.uber.org/zap"

	"foyer/origin"
)

// writeGroup makes the holds true in the ledger. A member that the ledger has not written is compensated at once: a tombstone
// first, then the units. What has become of the takes is told to the counter after the buyers have their answer: the ledger
// has decided, and a process that dies between the two leaves takes that the ledger explains.
func (s *atomicRedis) writeGroup(event string, requests []origin.HoldRequest) []outcome[origin.HoldReply] {
	out := holdGroup(s.Ledger, event, requests)
	became := make(map[string]string, len(requests))
	var lost []origin.HoldRequest
	for i, o := range out {
		switch {
		case o.err != nil:
			lost = append(lost, requests[i])
		case o.answer.Refusal != origin.NotRefused:
			became[requests[i].ID] = takeFree
		default:
			became[requests[i].ID] = becameOf(o.answer.Hold)
		}
	}
	if len(lost) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
		defer cancel()
		s.compensate(ctx, event, lost, became)
	}
	s.resolves.join(context.Background(), event, became)
	return out
}

// resolveGroups tells the counter what has become of the takes of some groups.
func (s *atomicRedis) resolveGroups(event string, groups []map[string]string) []outcome[struct{}] {
	became := make(map[string]string)
	for _, group := range groups {
		maps.Copy(became, group)
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	if _, err := s.counter.resolve(ctx, event, became); err != nil && !errors.Is(err, errUnbuilt) {
		s.Logger.Warn("takes left to the reconciler", zap.String("event", event), zap.Int("takes", len(became)), zap.Error(err))
	}
	return make([]outcome[struct{}], len(groups))
}

// compensate voids holds whose row was not written as far as is known. What cannot be voided now stays pending for the
// reconciler.
func (s *atomicRedis) compensate(ctx context.Context, event string, lost []origin.HoldRequest, became map[string]string) {
	standing, err := s.Ledger.Void(ctx, event, lost, origin.SoldOut)
	if err != nil {
		s.Logger.Warn("holds left to the reconciler", zap.String("event", event), zap.Int("holds", len(lost)), zap.Error(err))
		return
	}
	for id, hold := range standing {
		became[id] = becameOf(hold)
	}
}

// becameOf tells what a take has become by its hold's row.
func becameOf(hold origin.Hold) string {
	switch hold.State {
	case origin.HoldSold:
		return takeSold
	case origin.HoldRefused, origin.HoldReleased, origin.HoldExpired:
		return takeFree
	default:
		return takeHeld
	}
}
