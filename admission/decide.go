package admission

import "time"

// settle is how long after it was given a lease may be missing in a view that is only late.
const settle = 5 * Tick

// standing is where a ticket stands, as a view has it.
type standing int

const (
	ended    standing = iota // its life is over, or its round is
	waiting                  // waits, or would if it were live
	offered                  // has an offer
	inside                   // has a lease
	unlisted                 // shows a pass that has not run out, and the view knows no slot of it
)

// place is a standing with the slot it comes from.
type place struct {
	standing standing
	slot     Slot // of offered and inside
}

// act is what a request on a gated path leads to.
type act int

const (
	actWait   act = iota
	actAdmit      // forward it as it is
	actRenew      // forward it if the store renews its lease
	actClaim      // forward it if the store turns its offer into a lease
	actJoin       // ask for a ticket
	actRefuse     // see reason
)

// place judges a token that counts. gone says that the ticket was ended here since the view was made.
func (v *view) place(t Token, gone bool, now time.Time) place {
	slot := v.slot(t.Ticket, now)
	if t.Round != v.snap.Round && !t.Issued.After(v.snap.Now) {
		// Only a lease survives a reset, and all such leases lie below the base that the reset has set. A lease above
		// it under the same number belongs to somebody else, in a line that began anew.
		if slot.Kind != Lease || t.Ticket >= v.snap.Base {
			return place{standing: ended}
		}
	}
	switch {
	case gone, slot.Kind == Leaving:
		return place{standing: ended}
	case slot.Kind == Lease:
		return place{standing: inside, slot: slot}
	case slot.Kind == Offer && !(t.passes(now) && now.Sub(t.Issued) < settle): // else it was claimed since
		return place{standing: offered, slot: slot}
	case t.Ticket < v.snap.Base, v.ended.Has(t.Ticket):
		return place{standing: ended}
	case t.passes(now):
		return place{standing: unlisted}
	}
	return place{standing: waiting}
}

// passes reports whether a token is a pass that has not run out.
func (t Token) passes(now time.Time) bool { return t.Use == UsePass && now.Before(t.Expires) }

// decide says what a request on a gated path leads to while the store answers. A holder without a ticket that counts
// stands as ended.
func (v *view) decide(t Token, p place, join, soldOut bool, now time.Time) (act, Refusal) {
	switch p.standing {
	case inside:
		if t.passes(now) && !v.due(t, p.slot, now) {
			return actAdmit, NotRefused
		}
		return actRenew, NotRefused
	case unlisted:
		if now.Sub(t.Issued) < settle {
			return actAdmit, NotRefused
		}
		return actRenew, NotRefused
	case offered:
		return actClaim, NotRefused
	case waiting:
		if refusal := v.shut(soldOut, now); refusal != NotRefused {
			return actRefuse, refusal
		}
		return actWait, NotRefused
	}
	if !join {
		return actRefuse, RefusedNoTicket
	}
	if refusal := v.shut(soldOut, now); refusal != NotRefused {
		return actRefuse, refusal
	}
	if most := v.snap.Rules.QueueMax; most > 0 && v.waiting() >= most {
		return actRefuse, RefusedFull
	}
	return actJoin, NotRefused
}

// decideAlone says the same while the store does not answer and those inside are to stay: a pass is honoured to its
// end, nobody new gets in.
func (v *view) decideAlone(t Token, p place, now time.Time) (act, Refusal) {
	switch {
	case p.standing == ended:
		return actRefuse, RefusedStore
	case t.passes(now):
		return actAdmit, NotRefused
	}
	return actWait, NotRefused
}

// shut is why nobody who is not inside yet gets in, if so.
func (v *view) shut(soldOut bool, now time.Time) Refusal {
	switch {
	case soldOut:
		return RefusedSoldOut
	case closed(v.snap.Rules, now):
		return RefusedClosed
	}
	return NotRefused
}

// due reports whether renewing would lengthen a pass by at least a quarter of Idle. So somebody active always has about
// Idle left, and nobody asks the store in vain in the last minutes before Max.
func (v *view) due(t Token, slot Slot, now time.Time) bool {
	return v.within(slot, now).Sub(t.Expires) >= v.snap.Rules.Idle/4
}

// within is the end of the pass that renewing a lease would give now. It lies in the past in the last moments before
// Max.
func (v *view) within(slot Slot, now time.Time) time.Time {
	rules := v.snap.Rules
	return rules.passEnd(later(slot.Expires, renewal(rules, slot, now)), now)
}

// renewal is the end that a request asks for its lease: a full life from now, but not beyond Max, which only a hold
// may exceed. A slot that is not known does not bound it.
func renewal(rules Rules, slot Slot, now time.Time) time.Time {
	until := now.Add(rules.LeaseLife())
	if slot.Kind == Lease {
		until = earlier(until, slot.Start.Add(rules.Max))
	}
	return until
}

// passEnd is when a pass for a lease that ends at leaseEnd runs out: the leeway before it, and no later than the
// longest life of a pass.
func (r Rules) passEnd(leaseEnd, now time.Time) time.Time {
	return earlier(leaseEnd.Add(-r.Leeway), now.Add(r.PassLife()))
}
