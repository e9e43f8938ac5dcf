package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"foyer/origin"
)

const (
	historyEvent   = "e"
	historyClients = 8
	historyTimeout = 2 * time.Minute // of the check of one history
)

// never is the time at which a call returns whose answer was lost.
const never = math.MaxInt64

// HistoryShelf is what a history is recorded on.
type HistoryShelf struct {
	Strategy origin.Strategy
	Ledger   LedgerStore // nil: there are holds and nothing else, and no buyer has a limit

	Capacity int64 // of the event "e", which is on sale
	Limit    int64 // of a buyer

	// Doorkeeper: the strategy may send a buyer away for units that somebody else, whose call is under way, does not get in
	// the end or gives back.
	Doorkeeper bool
	// Tear breaks a connection to the ledger; nil: none are broken.
	Tear func(ctx context.Context)
}

// History is what some clients have asked of one event, all at once, and what they were answered.
type History struct {
	begun time.Time
	rules eventState
	shelf HistoryShelf

	mu    sync.Mutex
	calls []porcupine.Operation
	holds []call // all that were asked for, by number
	loose []int  // those whose answer was lost
	made  []int  // those that may have been made
	tries map[int]int
	done  map[string]int // what happened how often
}

// RecordHistory lets clients hold, give back, pay, let lapse and read, each as many times as steps says, and then reads
// what has come of it. One in twenty times they hang up before they are answered.
func RecordHistory(t *testing.T, shelf HistoryShelf, steps int) *History {
	t.Helper()
	h := &History{begun: time.Now(), shelf: shelf, tries: map[int]int{}, done: map[string]int{}}
	h.rules = eventState{capacity: shelf.Capacity, limit: shelf.Limit}
	ctx, ended := context.WithCancel(t.Context())
	var clients, others sync.WaitGroup
	for i := range historyClients {
		clients.Go(func() { h.client(t.Context(), i, steps) })
	}
	if shelf.Ledger != nil {
		others.Go(func() { h.reaper(ctx) })
		others.Go(func() { h.reaper(ctx) })
	}
	clients.Wait()
	ended()
	others.Wait()
	if shelf.Ledger != nil {
		h.sellOut(t)
		h.audit(t)
	}
	return h
}

// Check tells whether the history can be explained: whether there is an order of the calls, each at one moment between its
// call and its answer, in which an event as simple as can be gives the same answers. An answer that was lost may belong to
// any moment since the call.
func (h *History) Check() porcupine.CheckResult {
	h.reckon()
	return porcupine.CheckOperationsTimeout(historyModel(h.rules), h.calls, historyTimeout)
}

// Done is how often something happened: a verb, or a verb and its refusal or state.
func (h *History) Done() map[string]int { return h.done }

// String lists the calls, so that one may look for what cannot be explained.
func (h *History) String() string {
	calls := slices.Clone(h.calls)
	slices.SortFunc(calls, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var text []byte
	for _, o := range calls {
		until := "lost"
		if o.Return != never {
			until = time.Duration(o.Return).String()
		}
		text = fmt.Appendf(text, "client %d, %v–%s: %v → %v\n", o.ClientId, time.Duration(o.Call), until, o.Input, o.Output)
	}
	return string(text)
}

// every does something again and again until ctx ends.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do(ctx)
		}
	}
}

// record makes a call and notes it. A call that returns an error may have done anything or nothing.
func (h *History) record(client int, c call, do func() (answer, error)) answer {
	called := time.Since(h.begun)
	a, err := do()
	returned := int64(time.Since(h.begun))
	if err != nil {
		a.unknown, returned = true, never
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: c, Call: int64(called), Output: a, Return: returned})
	h.done[string(c.verb)]++
	switch {
	case a.unknown:
		h.done["lost "+string(c.verb)]++
	case a.refusal != origin.NotRefused:
		h.done[string(c.verb)+" "+string(a.refusal)]++
	case c.verb == verbExpire:
		h.done["expired"] += len(a.ended)
	case c.verb == verbSettle && a.attempt != none:
		h.done["settle "+string(attemptStations[a.attempt])]++
	case a.freed || c.verb == verbHold:
		h.done[string(c.verb)+" "+string(holdStations[a.state])]++
	}
	return a
}

// reckon adds what the clients cannot have seen: the holds that a reaper ended without being answered, and the units that
// a doorkeeper may have counted as taken.
func (h *History) reckon() {
	for _, o := range h.calls {
		if a := o.Output.(answer); a.final != nil {
			h.lapses(a.final)
			h.calls = slices.DeleteFunc(h.calls, func(o porcupine.Operation) bool { return idle(o, a.final) })
			break
		}
	}
	if !h.shelf.Doorkeeper {
		return
	}
	for i := range h.calls {
		one := h.calls[i].Input.(call)
		if one.verb != verbHold || one.exact {
			continue
		}
		one.doorman = 0
		for j, other := range h.calls {
			if i != j && other.Call <= h.calls[i].Return && h.calls[i].Call <= other.Return {
				one.doorman += underWay(other)
			}
		}
		h.calls[i].Input = one
	}
}

// underWay is how many units a call may have taken from a counter, or not given back to it yet, that the ledger has free.
func underWay(o porcupine.Operation) (units int64) {
	c, a := o.Input.(call), o.Output.(answer)
	switch {
	case c.verb == verbExpire && a.unknown:
		return historyHolds // nobody knows of which
	case c.verb == verbExpire:
		for _, one := range a.ended {
			units += one.quantity
		}
		return units
	case c.verb == verbHold, c.verb == verbRelease, c.verb == verbSettle:
		return c.quantity
	default:
		return 0
	}
}

// lapses adds the ends of holds that no reaper was told of, though one has ended them, and the tombstones.
func (h *History) lapses(final *eventState) {
	reported := map[int]bool{}
	for _, o := range h.calls {
		c, a := o.Input.(call), o.Output.(answer)
		for _, one := range a.ended {
			reported[one.hold] = true
		}
		if c.verb == verbSettle && a.freed {
			reported[c.hold] = true
		}
	}
	for _, one := range h.holds {
		state := final.holds[one.hold].state
		sold := state == holdAt(origin.HoldSold) && h.tries[one.hold] > 1 // perhaps paid late
		switch {
		case state == holdAt(origin.HoldRefused):
			one.verb = verbVoid
		case one.short && !reported[one.hold] && (sold || state == holdAt(origin.HoldExpired)):
			one.verb = verbLapse
		default:
			continue
		}
		h.calls = append(h.calls, porcupine.Operation{ClientId: historyClients, Input: one, Output: answer{unknown: true}, Return: never})
	}
}

// idle tells of a call that it explains nothing: it can be left out, because it found nothing to do, or its answer was lost
// and it has not changed the event until the end. A hold and an attempt, once made, are never gone.
func idle(o porcupine.Operation, final *eventState) bool {
	c, a := o.Input.(call), o.Output.(answer)
	if c.verb == verbExpire {
		return len(a.ended) == 0
	}
	if !a.unknown {
		return false
	}
	place := final.holds[c.hold]
	switch c.verb {
	case verbLook, verbSee:
		return true
	case verbHold:
		return place.state == none
	case verbRelease:
		return c.stranger || place.state != holdAt(origin.HoldReleased) && place.state != holdAt(origin.HoldSold)
	case verbStart, verbSettle:
		return place.attempts[c.attempt] == none
	default:
		return false
	}
}
