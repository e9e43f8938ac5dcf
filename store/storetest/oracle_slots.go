package storetest

import (
	"context"
	"time"

	"foyer/admission"
)

// Join is as admission.Store says.
func (o *Oracle) Join(_ context.Context, join admission.Join) (admission.Joined, error) {
	if err := o.lost(join.Seen); err != nil {
		return admission.Joined{}, err
	}
	now := o.now()
	if again, ok := o.joins[join.ID]; ok && now.Before(again.until) {
		again.joined.Standing = o.standing()
		return again.joined, nil
	}
	joined := admission.Joined{}
	switch {
	case now.Before(o.joinsFrom):
		joined.Refusal = admission.RefusedStore
	case o.closed():
		joined.Refusal = admission.RefusedClosed
	default:
		if o.count == 0 {
			joined.Leased = min(join.N, o.free())
		}
		joined.N = min(join.N, joined.Leased+max(0, o.rules.QueueMax-o.count))
		if joined.N < join.N {
			joined.Refusal = admission.RefusedFull
		}
	}
	if joined.N > 0 {
		o.give(&joined, join.Family)
		o.joins[join.ID] = remembered{joined, now.Add(time.Minute)}
	}
	joined.Standing = o.standing()
	return joined, nil
}

func (o *Oracle) give(joined *admission.Joined, family admission.Family) {
	joined.First = o.tail + 1
	for i := range joined.N {
		o.tail++
		switch {
		case i < joined.Leased:
			joined.Expires = o.now().Add(o.rules.Claim)
			o.hold(admission.Slot{Ticket: o.tail, Kind: admission.Lease, Start: o.now(), Expires: joined.Expires})
			o.admitted++
			o.allowance -= 60_000
		case family == admission.Near:
			o.visitor(o.tail).near = o.near.number
			o.count++
		default:
			o.visitor(o.tail).far = o.far.number
			o.count++
		}
	}
	o.seq++
}

// Claim is as admission.Store says.
func (o *Oracle) Claim(_ context.Context, seen admission.Seen, t admission.Ticket) (admission.Claimed, error) {
	if err := o.lost(seen); err != nil {
		return admission.Claimed{}, err
	}
	s := o.usable(t)
	if s != nil && s.Kind == admission.Offer {
		*s = admission.Slot{Ticket: t, Kind: admission.Lease, Confirmed: true, Start: o.now(),
			Expires: o.now().Add(min(o.rules.LeaseLife(), o.rules.Max))}
		o.admitted++
		o.seq++
	}
	o.confirm(s)
	return o.claimed(t, s), nil
}

func (o *Oracle) claimed(t admission.Ticket, s *admission.Slot) admission.Claimed {
	if s == nil {
		return admission.Claimed{Standing: o.standing(), Slot: admission.Slot{Ticket: t}}
	}
	return admission.Claimed{Standing: o.standing(), Slot: *s}
}

// confirm notes that the visitor with a lease has been seen.
func (o *Oracle) confirm(s *admission.Slot) {
	if s != nil && s.Kind == admission.Lease && !s.Confirmed {
		s.Confirmed = true
		s.Expires = later(s.Expires, earlier(o.now().Add(o.rules.LeaseLife()), s.Start.Add(o.rules.Max)))
		o.seq++
	}
}

// Renew is as admission.Store says.
func (o *Oracle) Renew(_ context.Context, seen admission.Seen, t admission.Ticket, until time.Time) (admission.Claimed, error) {
	if err := o.lost(seen); err != nil {
		return admission.Claimed{}, err
	}
	s := o.usable(t)
	if s == nil || s.Kind != admission.Lease {
		return o.claimed(t, nil), nil
	}
	bound := s.Start.Add(o.rules.Max)
	if o.rules.Hold > 0 && until.After(bound) {
		bound = bound.Add(o.rules.Hold + time.Minute)
	}
	before := *s
	s.Confirmed, s.Expires = true, later(s.Expires, earlier(until, bound))
	if *s != before {
		o.seq++
	}
	return o.claimed(t, s), nil
}

// Release is as admission.Store says.
func (o *Oracle) Release(_ context.Context, seen admission.Seen, t admission.Ticket) (admission.Standing, error) {
	if err := o.lost(seen); err != nil {
		return admission.Standing{}, err
	}
	s := o.slots[t]
	if s == nil && o.live(t) && !o.ended(t) {
		o.count = max(0, o.count-1)
	}
	if s != nil && s.Kind != admission.Leaving {
		s.Kind, s.Expires = admission.Leaving, o.now().Add(2*admission.Tick)
		o.seq++
	}
	if t > 0 && t >= o.base && t <= o.tail && !o.ended(t) {
		o.end(t)
	}
	return o.standing(), nil
}

// Reset is as admission.Store says.
func (o *Oracle) Reset(_ context.Context, seen admission.Seen, round string) (admission.Standing, error) {
	if err := o.lost(seen); err != nil {
		return admission.Standing{}, err
	}
	o.reset(round)
	return o.standing(), nil
}

func (o *Oracle) reset(round string) {
	if round == o.round {
		return
	}
	now := o.now()
	o.round, o.base = round, (o.tail/64+1)*64
	o.tail = o.base - 1
	o.seq++
	for t, s := range o.slots {
		if s.Kind == admission.Offer {
			delete(o.slots, t)
		}
	}
	clear(o.visitors)
	clear(o.joins)
	o.admitted, o.count, o.soldOut = 0, 0, false
	o.near.began, o.far.began, o.kept.began, o.marked = now, now, now, now
	o.floor, o.mark = o.seq, o.seq
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
