package admission

import (
	"math/rand/v2"
	"time"

	"go.uber.org/zap"
)

const (
	// queueTokenLife is how long a queue token lasts at least; it is renewed when half of that is over.
	queueTokenLife = 10 * time.Minute
	// clientKeeps is how long a client should keep a token: one that has lost its ticket still says who somebody is,
	// and who has paid comes back for the receipt.
	clientKeeps = 30 * 24 * time.Hour
)

// What people are told.
const (
	reasonPaused = "paused by the organiser"
	reasonDown   = "the store is unreachable; your place is safe"
	reasonLost   = "the line is being restored; your place is safe"
	reasonLater  = "the line is being restored; please ask again in a moment"
)

// pass lets in the holder of a pass that is good as it is.
func (r *Room) pass(v *view, t Token, now time.Time) Verdict {
	return Verdict{Outcome: Admit, Visitor: t.Visitor, Ticket: t.Ticket, Status: r.inside(v, t.Ticket, t.Expires, now)}
}

// inside is the status of somebody who is.
func (r *Room) inside(v *view, t Ticket, until, now time.Time) Status {
	return Status{
		Gate: r.gate, State: StateAdmitted, Ticket: t, Waiting: v.waiting(), SessionExpires: until, AsOf: now,
		PollAfter: v.snap.Rules.PollMin,
	}
}

// admit lets in the holder of a lease that the store has just given or lengthened, with a pass for it. In the last
// moments of a lease there is no pass for it any more, and nobody is let in.
func (r *Room) admit(v *view, t Token, slot Slot, now time.Time) Verdict {
	until := v.snap.Rules.passEnd(slot.Expires, now)
	if !now.Before(until) {
		return r.waitFor(v, holder{Token: t}, place{standing: waiting}, now)
	}
	if t.Use != UsePass {
		r.observer.Admitted(max(now.Sub(t.Joined), 0))
		if !t.Due.IsZero() {
			r.observer.Estimated(now.Sub(t.Due))
		}
	}
	t.Use, t.Position, t.Due, t.Started, t.Issued, t.Expires = UsePass, 0, time.Time{}, slot.Start, now, until
	t.Generation++
	verdict := r.pass(v, t, now)
	r.give(&verdict, t)
	return verdict
}

// give puts a token into a verdict.
func (r *Room) give(verdict *Verdict, t Token) {
	signed, err := r.tokens.Sign(t)
	if err != nil {
		r.log.Error("token cannot be signed", zap.Error(err))
		return
	}
	verdict.Token, verdict.Until = signed, t.Issued.Add(clientKeeps)
}

// waitFor lets somebody wait who has asked again, which makes him live.
func (r *Room) waitFor(v *view, h holder, p place, now time.Time) Verdict {
	t := h.Token
	_, leased := r.given()
	position := v.position(t.Ticket, leased)
	if t.Position > 0 {
		position = min(position, t.Position)
	}
	family, after := v.pace(position, now, rand.Float64())
	switch {
	case r.link.health() != storeUp:
		most := v.snap.Rules.PollMax
		family, after = Far, jittered(most, rand.Float64(), most)
		p = place{standing: waiting} // an offer that cannot be claimed now would make him ask again at once
	case p.standing == offered:
		family, after = Near, v.snap.Rules.PollMin
	}
	r.marks.poll(t.Ticket, family)
	return r.wait(v, t, p, position, after, now)
}

// wait is the answer to somebody who waits, with a token where his own is not right any more.
func (r *Room) wait(v *view, t Token, p place, position int, after time.Duration, now time.Time) Verdict {
	rules := v.snap.Rules
	status := Status{
		Gate: r.gate, State: v.state(now, r.soldOut(v)), Ticket: t.Ticket, Position: position,
		Waiting: max(v.waiting(), position), Eta: v.etaOf(t.Ticket, position, now), PollAfter: after, AsOf: v.snap.Now,
	}
	if now.Before(rules.OpensAt) {
		status.OpensAt = rules.OpensAt
	}
	if p.standing == offered {
		status.State, status.Position, status.Eta, status.OfferExpires = StateOffered, 0, nil, p.slot.Expires
		status.Waiting = v.waiting() // he is not one of them any more
	}
	status.Reason = r.reason(status.State)
	verdict := Verdict{Outcome: Wait, Visitor: t.Visitor, Ticket: t.Ticket, Status: status}
	if next, changed := nextQueueToken(t, position, status.Eta, rules, now); changed {
		r.give(&verdict, next)
	}
	return verdict
}

// nextQueueToken is the token to hold from now on: another than t where t is no queue token, has had half its life, or
// says a position higher than was shown now, which must never rise again.
func nextQueueToken(t Token, position int, eta *Eta, rules Rules, now time.Time) (Token, bool) {
	life := max(queueTokenLife, 4*rules.PollMax)
	if t.Use == UseQueue && position == t.Position && now.Before(t.Expires.Add(-life/2)) {
		return t, false
	}
	if t.Use == UsePass {
		t.Joined = now // he waits anew
	}
	if t.Due.IsZero() && eta != nil {
		t.Due = now.Add((eta.Low + eta.High) / 2)
	}
	t.Use, t.Position, t.Started, t.Issued, t.Expires = UseQueue, position, time.Time{}, now, now.Add(life)
	return t, true
}

// reason is what to tell people besides their state.
func (r *Room) reason(state State) string {
	switch r.link.health() {
	case storeUp:
	case storeLost:
		return reasonLost
	default:
		return reasonDown
	}
	if state == StatePaused {
		return reasonPaused
	}
	return ""
}

// refuse is the answer to somebody who is neither let in nor waits.
func (r *Room) refuse(v *view, h holder, p place, refusal Refusal, now time.Time) Verdict {
	verdict := Verdict{Outcome: Refuse, Refusal: refusal, Visitor: h.Visitor}
	status := Status{Gate: r.gate, State: v.state(now, r.soldOut(v)), Waiting: v.waiting(), AsOf: v.snap.Now}
	if p.standing == waiting {
		verdict.Ticket, status.Ticket = h.Ticket, h.Ticket
	}
	switch refusal {
	case RefusedFull:
		status.State = StateFull
	case RefusedClosed:
		status.State = StateClosed
	case RefusedSoldOut:
		status.State = StateSoldOut
	}
	status.PollAfter = v.snap.Rules.PollMax
	status.Reason = r.reason(status.State)
	if refusal == RefusedStore && r.link.health() == storeUp { // the store itself says so, for a moment
		status.PollAfter, status.Reason = v.snap.Rules.PollMin, reasonLater
	}
	verdict.Status = status
	return verdict
}

// unavailable is the answer while nothing can be said about the line.
func (r *Room) unavailable(v *view) Verdict {
	status := Status{Gate: r.gate, State: StateWaiting, PollAfter: r.rules().PollMax, Reason: reasonDown, AsOf: r.clock.now()}
	if v != nil {
		status.Waiting, status.Reason = v.waiting(), r.reason(StateWaiting)
	}
	return Verdict{Outcome: Refuse, Refusal: RefusedStore, Status: status}
}
