package storetest

import (
	"context"
	"math/rand/v2"
	"time"

	"foyer/origin"
)

const (
	shortTTL = 15 * time.Millisecond
	longTTL  = time.Hour
	// historyBuying is how many of the buyers ask at the same time; the others come when all is over.
	historyBuying = 4
)

// client asks for one thing after the other, of its own holds and of those of others.
func (h *History) client(ctx context.Context, id, steps int) {
	for range steps {
		ctx, hangUp := h.mood(ctx)
		if h.shelf.Tear != nil && rand.IntN(40) == 0 {
			h.shelf.Tear(ctx)
		}
		if h.shelf.Ledger == nil {
			h.takeNew(ctx, id)
			hangUp()
			continue
		}
		switch rand.IntN(13) {
		case 0, 1, 2:
			h.takeNew(ctx, id)
		case 3:
			h.takeAgain(ctx, id)
		case 4, 5:
			h.release(ctx, id)
		case 6, 7, 8:
			h.start(ctx, id)
		case 9, 10:
			h.settle(ctx, id)
		case 11:
			h.see(ctx, id)
		case 12:
			h.look(ctx, id)
			if !h.shelf.Doorkeeper && rand.IntN(3) == 0 {
				h.resize(ctx, id)
			}
		}
		hangUp()
	}
}

// mood is how long a client waits for its answer: mostly as long as it takes.
func (h *History) mood(ctx context.Context) (context.Context, context.CancelFunc) {
	if h.shelf.Ledger != nil && rand.IntN(20) == 0 {
		return context.WithTimeout(ctx, time.Duration(rand.IntN(3000))*time.Microsecond)
	}
	return ctx, func() {}
}

// takeNew asks for a hold that nobody has asked for.
func (h *History) takeNew(ctx context.Context, id int) {
	h.mu.Lock()
	one := call{hold: len(h.holds), buyer: rand.IntN(historyBuying), quantity: 1 + rand.Int64N(3), short: rand.IntN(2) == 0}
	if one.hold == historyHolds {
		h.mu.Unlock()
		return
	}
	h.holds = append(h.holds, one)
	h.mu.Unlock()
	h.take(ctx, id, one, false)
}

// takeAgain asks for one again whose answer was lost.
func (h *History) takeAgain(ctx context.Context, id int) {
	h.mu.Lock()
	if len(h.loose) == 0 {
		h.mu.Unlock()
		return
	}
	one := h.holds[h.loose[0]]
	h.loose = h.loose[1:]
	h.mu.Unlock()
	h.take(ctx, id, one, true)
}

func (h *History) take(ctx context.Context, id int, one call, again bool) answer {
	one.verb = verbHold
	request := origin.HoldRequest{ID: holdName(one.hold), Event: historyEvent, Buyer: buyerName(one.buyer), Quantity: one.quantity, TTL: longTTL, Repeated: again}
	if one.short {
		request.TTL = shortTTL
	}
	a := h.record(id, one, func() (answer, error) {
		reply, err := h.shelf.Strategy.Hold(ctx, request)
		return answer{refusal: reply.Refusal, state: holdAt(reply.Hold.State)}, err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.unknown {
		h.loose = append(h.loose, one.hold)
	}
	if a.refusal == origin.NotRefused {
		h.made = append(h.made, one.hold)
	}
	return a
}

// some is one of the holds that were asked for, if there are any: mostly one of the last that may have been made.
func (h *History) some() (call, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.made) == 0 {
		return call{}, false
	}
	if rand.IntN(10) == 0 {
		return h.holds[rand.IntN(len(h.holds))], true
	}
	const latest = 8 // those before have mostly ended
	return h.holds[h.made[max(0, len(h.made)-1-rand.IntN(latest))]], true
}

func (h *History) release(ctx context.Context, id int) {
	one, ok := h.some()
	if !ok {
		return
	}
	one.verb, one.stranger = verbRelease, rand.IntN(10) == 0
	buyer := buyerName(one.buyer)
	if one.stranger {
		buyer = "stranger"
	}
	h.record(id, one, func() (answer, error) {
		hold, freed, refusal, err := h.shelf.Ledger.Release(ctx, holdName(one.hold), buyer)
		if err == nil && freed {
			err = h.shelf.Strategy.GaveBack(context.WithoutCancel(ctx), origin.Ended{Hold: hold.ID, Event: hold.Event, Quantity: hold.Quantity})
		}
		return answer{refusal: refusal, freed: freed, state: holdAt(hold.State)}, err
	})
}

func (h *History) start(ctx context.Context, id int) {
	one, ok := h.some()
	if !ok {
		return
	}
	h.mu.Lock()
	one.verb, one.attempt = verbStart, min(h.tries[one.hold], historyAttempts-1)
	h.tries[one.hold]++
	h.mu.Unlock()
	h.record(id, one, func() (answer, error) {
		reply, err := h.shelf.Ledger.StartPayment(ctx, origin.PaymentStart{
			Attempt: attemptName(one), Hold: holdName(one.hold), Buyer: buyerName(one.buyer), Method: "m",
		})
		return answer{refusal: reply.Refusal, state: holdAt(reply.Hold.State), attempt: attemptAt(reply.Attempt.State)}, err
	})
}

func (h *History) settle(ctx context.Context, id int) {
	one, ok := h.some()
	if !ok {
		return
	}
	words := []origin.AttemptState{origin.AttemptPaid, origin.AttemptDeclined, origin.AttemptCanceled}
	one.verb, one.word = verbSettle, attemptAt(words[rand.IntN(len(words))])
	h.mu.Lock()
	one.attempt = rand.IntN(max(1, min(h.tries[one.hold], historyAttempts)))
	h.mu.Unlock()
	h.record(id, one, func() (answer, error) {
		settled, err := h.shelf.Ledger.Settle(ctx, origin.Settlement{Attempt: attemptName(one), State: attemptStations[one.word], Charge: "ch"})
		if err == nil && settled.Freed != nil {
			err = h.shelf.Strategy.GaveBack(context.WithoutCancel(ctx), *settled.Freed)
		}
		return answer{state: holdAt(settled.Hold.State), attempt: attemptAt(settled.Attempt.State), freed: settled.Freed != nil}, err
	})
}

func (h *History) resize(ctx context.Context, id int) {
	one := call{verb: verbResize, capacity: h.rules.capacity/2 + rand.Int64N(h.rules.capacity)}
	h.record(id, one, func() (answer, error) {
		_, refusal, err := h.shelf.Ledger.Resize(ctx, historyEvent, one.capacity)
		return answer{refusal: refusal}, err
	})
}

func (h *History) see(ctx context.Context, id int) {
	one, ok := h.some()
	if !ok {
		return
	}
	one.verb = verbSee
	h.record(id, one, func() (answer, error) {
		hold, _, err := h.shelf.Ledger.Hold(ctx, holdName(one.hold))
		return answer{state: holdAt(hold.State)}, err
	})
}

func (h *History) look(ctx context.Context, id int) {
	h.record(id, call{verb: verbLook}, func() (answer, error) {
		stock, _, err := h.shelf.Ledger.Event(ctx, historyEvent)
		return answer{held: stock.Held, sold: stock.Sold}, err
	})
}
