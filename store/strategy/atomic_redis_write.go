package strategy

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"

	"foyer/origin"
)

// writeGroup makes the holds true in the ledger. A member that the ledger has not written is compensated at once: a tombstone
// first, then the units. What has become of the takes is told to the counter after the buyers have their answer: the ledger
// has decided, and a process that dies between the two leaves takes that the ledger explains.
func (s *atomicRedis) writeGroup(event string, members []*member[taking, origin.HoldReply]) []*member[taking, origin.HoldReply] {
	requests := requestsOf(members)
	out := holdGroup(s.Ledger, event, requests)
	became := make(map[string]string)
	var lost []origin.HoldRequest
	for i, o := range out {
		switch {
		case o.err != nil:
			lost = append(lost, requests[i])
		case o.answer.Refusal != origin.NotRefused:
			became[requests[i].ID] = takeFree
		case members[i].request.group == nil || becameOf(o.answer.Hold) != takeHeld:
			became[requests[i].ID] = becameOf(o.answer.Hold)
		}
	}
	if len(lost) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
		defer cancel()
		s.compensate(ctx, event, lost, became)
	}
	if entries := settled(members, out, became); len(became) > 0 {
		s.resolves.join(context.Background(), event, resolution{became: became, groups: entries})
	} else {
		s.close(event, entries)
	}
	for i, m := range members {
		m.answered <- out[i]
	}
	return nil
}

// settled counts those of whom the ledger has spoken, and returns the entries of the groups of takes that wait for nobody more:
// these can be closed as a whole, without a word on each hold that is made.
func settled(members []*member[taking, origin.HoldReply], out []outcome[origin.HoldReply], became map[string]string) (entries []string) {
	for i, m := range members {
		group := m.request.group
		if _, voided := became[m.request.ID]; group == nil || out[i].err != nil && !voided {
			continue
		}
		if group.left.Add(-1) == 0 {
			entries = append(entries, group.entry)
		}
	}
	return entries
}

// close has groups of takes closed: by the event's next take, which costs nothing, or where there is none soon, without one.
func (s *atomicRedis) close(event string, entries []string) {
	s.closing.add(event, entries, func() { s.resolves.join(context.Background(), event, resolution{}) })
}

// resolveGroups tells the counter what has become of the takes of some groups, and closes those that no take has closed. What
// it cannot tell stays pending, and is the heir's or the reconciler's.
func (s *atomicRedis) resolveGroups(event string, some []resolution) []outcome[struct{}] {
	all := resolution{became: make(map[string]string), groups: s.closing.all(event)}
	for _, one := range some {
		maps.Copy(all.became, one.became)
		all.groups = append(all.groups, one.groups...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	if _, err := s.counter.resolve(ctx, event, all); err != nil && !errors.Is(err, errUnbuilt) {
		s.Logger.Warn("takes left to the reconciler", zap.String("event", event),
			zap.Int("takes", len(all.became)), zap.Int("groups", len(all.groups)), zap.Error(err))
	}
	return make([]outcome[struct{}], len(some))
}

// closing are the groups of takes that are to be closed, by event.
type closing struct {
	mu     sync.Mutex
	events map[string]*closable
}

type closable struct {
	entries []string
	overdue *time.Timer
}

// add adds to what is to be closed. If nobody asks for it soon, overdue is called.
func (c *closing) add(event string, entries []string, overdue func()) {
	if len(entries) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events = make(map[string]*closable)
	}
	if c.events[event] == nil {
		c.events[event] = &closable{overdue: time.AfterFunc(closePause, overdue)}
	}
	c.events[event].entries = append(c.events[event].entries, entries...)
}

// all takes what is to be closed of an event.
func (c *closing) all(event string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := c.events[event]
	if due == nil {
		return nil
	}
	due.overdue.Stop()
	delete(c.events, event)
	return due.entries
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
