package storetest

import (
	"context"
	"time"

	"foyer/admission"
)

// Restore is as admission.Restorer says.
func (o *Oracle) Restore(_ context.Context, image admission.Image) (admission.Standing, error) {
	if !o.begun {
		if image.Round == "" {
			return admission.Standing{}, admission.ErrLost
		}
		o.found(image.Round, image.File)
		o.rules, o.soldOut, o.base, o.tail, o.passed = image.Rules, image.SoldOut, image.Base, max(image.Base, 1)-1, true
	}
	now, before := o.now(), o.born
	news := image.Round != "" && image.Seq > o.seq
	known := image.AsOf.After(before) && !news || image.Seq == 0
	off := o.clockOff(image.Seen, time.Second)
	if off || news && image.AsOf.After(before) {
		o.born = now
	}
	o.passed = o.passed || off || news
	if image.Round != "" && !known {
		if image.Round != o.round && news {
			o.replace(image)
		}
		if image.Round == o.round {
			o.merge(image, news)
		}
		o.seq = max(o.seq, image.Seq) + 1
		o.floor, o.mark, o.marked = o.seq, o.seq, now
		for _, v := range o.visitors {
			v.endedAt, v.missedAt = 0, 0
		}
		o.count = len(o.waits())
	}
	if o.passed {
		o.joinsFrom, o.gives = o.born.Add(admission.RestoreWait), o.born.Add(o.rules.PassLife())
		o.fair = later(o.fair, o.gives.Add(2*o.rules.FarWindow()))
	}
	return o.standing(), nil
}

// replace begins the later round of an image; only those inside from rounds before it stay.
func (o *Oracle) replace(image admission.Image) {
	o.reset(image.Round)
	for t := range o.slots {
		if t >= image.Base {
			delete(o.slots, t)
		}
	}
	o.base, o.tail, o.born = image.Base, max(image.Base, 1)-1, o.now()
}

func (o *Oracle) merge(image admission.Image, news bool) {
	if news {
		o.file, o.rules, o.soldOut = image.File, image.Rules, image.SoldOut
	}
	o.tail = max(o.tail, image.Tail+admission.Ticket(image.Spare))
	o.admitted = max(o.admitted, image.Admitted)
	o.moveTo(image.Base)
	for t := max(o.base, 1); t <= o.tail; t++ {
		v := o.visitor(t)
		switch {
		case image.Ended.Has(t) && !v.ended:
			*v = visitor{ended: true, near: v.near}
		case !v.ended:
			v.kept = o.kept.number
			v.misses = max(v.misses, image.Missed[t])
			if image.Waiting.Has(t) && o.slots[t] == nil {
				v.far = o.far.number
			}
		}
		if s := o.slots[t]; s != nil && v.ended && s.Kind != admission.Leaving {
			s.Kind, s.Expires = admission.Leaving, o.now().Add(2*admission.Tick)
		}
	}
	for _, s := range image.Slots {
		o.unite(s)
	}
}

// unite takes over a slot that is still of use, while there is room; of two ends the later counts.
func (o *Oracle) unite(s admission.Slot) {
	s.Start, s.Expires = earlier(s.Start, o.now()), earlier(s.Expires, o.now().Add(o.longest()))
	if s.Kind == admission.Leaving || !s.Expires.After(o.now()) || s.Ticket > o.tail || o.ended(s.Ticket) {
		return
	}
	if s.Kind == admission.Offer {
		s.Expires = later(s.Expires, o.now().Add(o.rules.Claim))
	}
	has := o.slots[s.Ticket]
	switch {
	case has == nil && len(o.slots) < o.rules.Capacity:
		o.hold(s)
	case has == nil:
	case has.Kind == admission.Offer && s.Kind == admission.Lease:
		*has = s
	case has.Kind == s.Kind:
		has.Confirmed = has.Confirmed || s.Confirmed
		has.Start, has.Expires = earlier(has.Start, s.Start), later(has.Expires, s.Expires)
	}
}

// longest is the longest that a slot has left to live by itself.
func (o *Oracle) longest() time.Duration {
	longest := max(o.rules.LeaseLife(), o.rules.Claim+o.rules.PollMax)
	if o.rules.Hold > 0 {
		longest = max(longest, o.rules.Hold+time.Minute)
	}
	return longest
}

// Vouch is as admission.Restorer says.
func (o *Oracle) Vouch(_ context.Context, seen admission.Seen, proof admission.Proof) (admission.Claimed, error) {
	if err := o.lost(seen); err != nil {
		return admission.Claimed{}, err
	}
	t, now := proof.Ticket, o.now()
	if proof.Round != o.round && t >= o.base {
		if until := o.born.Add(o.rules.PassLife()); proof.Pass && now.Before(until) {
			o.gives = later(o.gives, until)
		}
		return o.claimed(t, nil), nil
	}
	if t > o.tail {
		o.tail = t
		o.seq++
	}
	if t >= o.base && !o.ended(t) {
		o.visitor(t).kept = o.kept.number
	}
	s := o.usable(t)
	if proof.Pass && now.Before(o.gives) && (s == nil || s.Kind == admission.Offer) {
		lease := admission.Slot{Ticket: t, Kind: admission.Lease, Confirmed: true, Start: earlier(now, proof.Start),
			Expires: earlier(proof.Expires.Add(o.rules.Leeway), now.Add(o.longest()))}
		has := o.slots[t]
		room := has != nil && has.Kind != admission.Leaving || has == nil && len(o.slots) < o.rules.Capacity
		if room && lease.Expires.After(now) && !o.ended(t) {
			o.hold(lease)
			o.seq++
		}
	}
	if s = o.usable(t); s != nil && s.Kind != admission.Lease {
		s = nil
	}
	return o.claimed(t, s), nil
}
