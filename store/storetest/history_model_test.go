package storetest

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"foyer/origin"
)

// Histories that break a promise are found, and those that only look like it are not.
func TestHistory_KnowsWhatCannotBeExplained(t *testing.T) {
	var (
		active, released = holdAt(origin.HoldActive), holdAt(origin.HoldReleased)
		take             = func(hold, buyer int, units int64) call {
			return call{verb: verbHold, hold: hold, buyer: buyer, quantity: units}
		}
		back    = func(c call) call { c.verb = verbRelease; return c }
		lapsing = func(c call) call { c.short = true; return c }
		made    = answer{state: active}
		soldOut = answer{refusal: origin.SoldOut}
		gone    = answer{state: released, freed: true}
		lost    = answer{unknown: true}
		look    = call{verb: verbLook}
		end     = func(holds ...station) answer {
			var final eventState
			for i, state := range holds {
				if final.holds[i].state = state; state == active {
					final.held++
				}
			}
			return answer{final: &final}
		}
	)
	for name, c := range map[string]struct {
		calls []porcupine.Operation
		want  porcupine.CheckResult
	}{
		"three of two":                 {after(take(0, 0, 1), made, take(1, 1, 1), made, take(2, 2, 1), made), porcupine.Illegal},
		"three of two, all at once":    {atOnce(take(0, 0, 1), made, take(1, 1, 1), made, take(2, 2, 1), made), porcupine.Illegal},
		"two of two and a refusal":     {atOnce(take(0, 0, 1), soldOut, take(1, 1, 1), made, take(2, 2, 1), made), porcupine.Ok},
		"sold out with one left":       {after(take(0, 0, 1), made, take(1, 1, 1), soldOut), porcupine.Illegal},
		"more than a buyer may have":   {after(take(0, 0, 1), made, take(1, 0, 1), made), porcupine.Illegal},
		"one after the other is back":  {after(take(0, 0, 1), made, back(take(0, 0, 1)), gone, take(1, 0, 1), made), porcupine.Ok},
		"given back twice":             {atOnce(take(0, 0, 1), made, back(take(0, 0, 1)), gone, back(take(0, 0, 1)), gone), porcupine.Illegal},
		"ended before its time":        {after(take(0, 0, 1), made, call{verb: verbExpire}, answer{ended: []call{take(0, 0, 1)}}), porcupine.Illegal},
		"ended in its time":            {after(lapsing(take(0, 0, 1)), made, call{verb: verbExpire}, answer{ended: []call{lapsing(take(0, 0, 1))}}), porcupine.Ok},
		"ended twice":                  {after(lapsing(take(0, 0, 1)), made, call{verb: verbExpire}, answer{ended: []call{lapsing(take(0, 0, 1))}}, call{verb: verbExpire}, answer{ended: []call{lapsing(take(0, 0, 1))}}), porcupine.Illegal},
		"an old stock":                 {after(take(0, 0, 1), made, look, answer{}), porcupine.Illegal},
		"a stock of the same moment":   {atOnce(take(0, 0, 1), made, look, answer{}), porcupine.Ok},
		"an acknowledged hold is gone": {after(take(0, 0, 1), made, call{verb: verbAudit}, end(none)), porcupine.Illegal},
		"a lost answer, done":          {after(take(0, 0, 1), lost, call{verb: verbAudit}, end(active)), porcupine.Ok},
		"a lost answer, not done":      {after(take(0, 0, 1), lost, call{verb: verbAudit}, end(none)), porcupine.Ok},
		"a lost answer, done later":    {after(take(0, 0, 1), lost, take(1, 1, 1), made, look, answer{held: 1}, call{verb: verbAudit}, end(active, active)), porcupine.Ok},
		"a lost answer does not undo":  {after(take(0, 0, 1), lost, look, answer{held: 1}, look, answer{}), porcupine.Illegal},
	} {
		h := &History{rules: eventState{capacity: 2, limit: 1}, calls: c.calls}
		if got := h.Check(); got != c.want {
			t.Errorf("%s: %v, want %v\n%s", name, got, c.want, h)
		}
	}
}

// A doorkeeper may send a buyer away for units that a call under way has taken and does not get, but for no others.
func TestHistory_AllowsADoorkeeperWhatIsUnderWay(t *testing.T) {
	refused := call{verb: verbHold, hold: 0, buyer: 0, quantity: 2}
	turnedAway := call{verb: verbHold, hold: 1, buyer: 1, quantity: 1}
	calls := []any{refused, answer{refusal: origin.LimitExceeded}, turnedAway, answer{refusal: origin.SoldOut}}
	for name, c := range map[string]struct {
		calls []porcupine.Operation
		want  porcupine.CheckResult
	}{
		"at the same time": {atOnce(calls...), porcupine.Ok},
		"afterwards":       {after(calls...), porcupine.Illegal},
	} {
		h := &History{shelf: HistoryShelf{Doorkeeper: true}, rules: eventState{capacity: 2, limit: 1}, calls: c.calls}
		if got := h.Check(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// after makes a history of calls and their answers in which each is asked when the one before is answered.
func after(said ...any) (calls []porcupine.Operation) {
	for i := 0; i < len(said); i += 2 {
		called := int64(i) * int64(time.Second)
		o := porcupine.Operation{ClientId: i, Input: said[i], Output: said[i+1], Call: called, Return: called + 1}
		if said[i+1].(answer).unknown {
			o.Return = never
		}
		calls = append(calls, o)
	}
	return calls
}

// atOnce makes one in which all are under way at the same time.
func atOnce(said ...any) []porcupine.Operation {
	calls := after(said...)
	for i := range calls {
		calls[i].Call, calls[i].Return = 0, 1
	}
	return calls
}
