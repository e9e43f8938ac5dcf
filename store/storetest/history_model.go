package storetest

import (
	"github.com/anishathalye/porcupine"

	"foyer/origin"
)

// eventState is an event as simple as can be. It is a value: two are equal if == says so.
type eventState struct {
	capacity, limit int64
	held, sold      int64
	units           [historyBuyers]int64
	holds           [historyHolds]holdPlace
}

type holdPlace struct {
	state    station
	attempts [historyAttempts]station
}

// historyModel is the sequential event that histories are compared with.
func historyModel(start eventState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, input, output any) (bool, any) {
			s := state.(eventState)
			ok := s.step(input.(call), output.(answer))
			return ok, s
		},
	}
}

// step takes a call over and tells whether its answer is right.
func (s *eventState) step(c call, a answer) bool {
	switch c.verb {
	case verbHold:
		return s.hold(c, a)
	case verbRelease:
		return s.release(c, a)
	case verbStart:
		return s.start(c, a)
	case verbSettle:
		return s.settle(c, a)
	case verbExpire:
		return s.expire(a)
	case verbLapse:
		if h := s.holds[c.hold]; h.state == holdAt(origin.HoldActive) {
			s.free(c, origin.HoldExpired)
		}
		return true
	case verbVoid:
		if h := &s.holds[c.hold]; h.state == none {
			h.state = holdAt(origin.HoldRefused)
		}
		return true
	case verbResize:
		fits := c.capacity >= s.held+s.sold
		if fits {
			s.capacity = c.capacity
		}
		return a.unknown || fits == (a.refusal == origin.NotRefused)
	case verbLook:
		return a.unknown || a.held == s.held && a.sold == s.sold
	case verbSee:
		return a.unknown || a.state == s.holds[c.hold].state
	default:
		return s.agrees(a.final)
	}
}

// agrees compares what a reader finds.
func (s *eventState) agrees(final *eventState) bool {
	for i, h := range s.holds {
		if final.holds[i].state != h.state {
			return false
		}
	}
	return final.held == s.held && final.sold == s.sold
}

func (s *eventState) refuse(c call) origin.Refusal {
	stock := origin.Stock{Event: origin.Event{Capacity: s.capacity, MaxPerBuyer: s.limit}, Held: s.held, Sold: s.sold}
	return origin.Refuse(stock, s.units[c.buyer], c.quantity)
}

func (s *eventState) hold(c call, a answer) bool {
	h := &s.holds[c.hold]
	if h.state != none {
		return a.unknown || a.state == h.state
	}
	refusal := s.refuse(c)
	switch {
	case a.unknown && refusal != origin.NotRefused:
		return true
	case a.unknown || a.refusal == origin.NotRefused:
		s.move(c, origin.HoldActive, c.quantity, 0, c.quantity)
		return refusal == origin.NotRefused && (a.unknown || a.state == h.state)
	case a.state == holdAt(origin.HoldRefused): // a tombstone, for a take whose row was not written
		h.state = a.state
		return true
	case a.refusal == origin.SoldOut && c.quantity > s.capacity-s.held-s.sold-c.doorman:
		return true // also to whom the limit would refuse it: then both reasons are true
	default:
		return a.refusal == refusal
	}
}

func (s *eventState) release(c call, a answer) bool {
	state := s.holds[c.hold].state
	active := state == holdAt(origin.HoldActive)
	want := origin.NotRefused
	switch {
	case state == none || c.stranger:
		want = origin.NoSuchHold
	case state == holdAt(origin.HoldPaying):
		want = origin.PaymentInProgress
	case state == holdAt(origin.HoldSold):
		want = origin.AlreadyPaid
	case active:
		s.free(c, origin.HoldReleased)
	}
	return a.unknown || a.refusal == want && a.freed == (active && !c.stranger)
}

func (s *eventState) start(c call, a answer) bool {
	h := &s.holds[c.hold]
	if attempt := h.attempts[c.attempt]; attempt != none { // the same payment, asked for again
		return a.unknown || a.refusal == origin.NotRefused && a.attempt == attempt
	}
	want := origin.HoldIsExpired
	switch h.state {
	case none:
		want = origin.NoSuchHold
	case holdAt(origin.HoldPaying):
		want = origin.PaymentPending
	case holdAt(origin.HoldSold):
		want = origin.AlreadyPaid
	case holdAt(origin.HoldActive):
		if c.short && a.refusal == origin.HoldIsExpired {
			return true // lapsed, and no reaper has come yet
		}
		want = origin.NotRefused
		h.state, h.attempts[c.attempt] = holdAt(origin.HoldPaying), attemptAt(origin.AttemptOpen)
	}
	return a.unknown || a.refusal == want
}

func (s *eventState) settle(c call, a answer) bool {
	h := &s.holds[c.hold]
	attempt := &h.attempts[c.attempt]
	switch {
	case *attempt == none:
		return a.unknown || a.attempt == none
	case *attempt == attemptAt(origin.AttemptPaid), *attempt == attemptAt(origin.AttemptRefundDue):
	case c.word == attemptAt(origin.AttemptPaid):
		s.paid(c)
	case *attempt == attemptAt(origin.AttemptOpen):
		*attempt = c.word
		if h.state != holdAt(origin.HoldPaying) {
			break
		}
		h.state = holdAt(origin.HoldActive)
		if c.short && a.state == holdAt(origin.HoldExpired) {
			s.free(c, origin.HoldExpired)
		}
	}
	return a.unknown || a.attempt == *attempt && a.state == h.state
}

// paid sells a hold. One that has ended takes its units again where it can.
func (s *eventState) paid(c call) {
	h := &s.holds[c.hold]
	attempt := attemptAt(origin.AttemptPaid)
	switch {
	case h.state == holdAt(origin.HoldPaying) || h.state == holdAt(origin.HoldActive):
		s.move(c, origin.HoldSold, -c.quantity, c.quantity, 0)
	case h.state != holdAt(origin.HoldSold) && s.refuse(c) == origin.NotRefused:
		s.move(c, origin.HoldSold, 0, c.quantity, c.quantity)
	default:
		attempt = attemptAt(origin.AttemptRefundDue)
	}
	h.attempts[c.attempt] = attempt
}

// expire wants each hold that was ended to have been active and lapsed.
func (s *eventState) expire(a answer) bool {
	for _, one := range a.ended {
		if s.holds[one.hold].state != holdAt(origin.HoldActive) || !one.short {
			return false
		}
		s.free(one, origin.HoldExpired)
	}
	return true
}

func (s *eventState) free(c call, end origin.HoldState) {
	s.move(c, end, -c.quantity, 0, -c.quantity)
}

func (s *eventState) move(c call, state origin.HoldState, held, sold, units int64) {
	s.holds[c.hold].state = holdAt(state)
	s.held += held
	s.sold += sold
	s.units[c.buyer] += units
}
