package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"foyer/admission"
)

// Sync is as admission.Store says.
func (o *Oracle) Sync(_ context.Context, sync admission.Sync) (admission.Snapshot, error) {
	if err := o.lost(sync.Seen); err != nil {
		return admission.Snapshot{}, err
	}
	now := o.now()
	if silence := now.Sub(o.synced); silence > time.Second {
		for _, p := range []*period{&o.near, &o.far, &o.kept} {
			p.began = p.began.Add(silence)
		}
		for _, s := range o.slots {
			if s.Kind == admission.Offer {
				s.Expires = s.Expires.Add(silence)
			}
		}
	}
	for _, at := range o.replicas {
		if now.Sub(at) > time.Second/2 {
			o.fair = later(o.fair, now)
		}
	}
	o.synced = now
	if sync.SoldOut != nil {
		o.soldOut = *sync.SoldOut
	}
	for _, t := range sync.Confirmed {
		o.confirm(o.usable(t))
	}
	for _, t := range sync.Busy {
		o.keepBusy(o.usable(t))
	}
	o.lapse()
	o.hear(sync.Near, func(v *visitor) { v.near = o.near.number })
	o.hear(sync.Far, func(v *visitor) { v.far, v.near = o.far.number, 0 })
	o.turn()
	o.offer()
	waiting := o.waits()
	o.count = len(waiting)
	if !now.Before(o.marked.Add(time.Minute)) {
		o.floor, o.mark, o.marked = max(o.floor, o.mark), o.seq, now
	}
	if !now.Before(o.based.Add(time.Second)) {
		o.forget()
	}
	o.replicas[sync.Replica] = now
	maps.DeleteFunc(o.replicas, func(_ string, at time.Time) bool { return at.Before(now.Add(-time.Minute)) })
	return o.snapshot(waiting, sync.Since), nil
}

func (o *Oracle) hear(polled admission.Bitmap, mark func(*visitor)) {
	for _, t := range members(polled) {
		if t > 0 && t >= o.base && t <= o.tail && o.slots[t] == nil {
			mark(o.visitor(t))
		}
	}
}

// turn begins the next period where one is over. Whoever was seen in neither of the last two is kept.
func (o *Oracle) turn() {
	if o.near.over(o.now(), o.rules.NearWindow()) {
		for _, v := range o.visitors {
			if v.near == o.near.number-2 && v.near > 0 && !v.ended {
				v.kept = o.kept.number
			}
		}
	}
	if o.far.over(o.now(), o.rules.FarWindow()) {
		for _, v := range o.visitors {
			if v.far == o.far.number-2 && v.far > 0 && !v.ended {
				v.kept = o.kept.number
			}
		}
	}
	o.kept.over(o.now(), o.rules.Keep)
}

// over goes on to the next period if it is time.
func (p *period) over(now time.Time, length time.Duration) bool {
	if now.Before(p.began.Add(length)) {
		return false
	}
	p.number++
	p.began = now
	return true
}

func (o *Oracle) keepBusy(s *admission.Slot) {
	if s == nil || s.Kind != admission.Lease {
		return
	}
	until := o.now().Add(o.rules.Claim)
	if s.Confirmed {
		until = o.now().Add(o.rules.LeaseLife())
	}
	if until = earlier(until, s.Start.Add(o.rules.Max)); until.After(s.Expires) {
		s.Expires = until
		o.seq++
	}
}

// lapse ends what has run out, in order of its end.
func (o *Oracle) lapse() {
	over := slices.SortedFunc(maps.Values(o.slots), func(a, b *admission.Slot) int {
		return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(fmt.Sprint(a.Ticket), fmt.Sprint(b.Ticket)))
	})
	for _, s := range over {
		if s.Expires.After(o.now()) {
			return
		}
		delete(o.slots, s.Ticket)
		o.seq++
		if s.Kind == admission.Leaving || s.Ticket < o.base {
			continue
		}
		v := o.visitor(s.Ticket)
		v.kept = o.kept.number
		if s.Kind == admission.Offer && !s.Start.Before(o.fair) {
			v.misses, v.missedAt = v.misses+1, o.seq
		}
		tooLong := s.Kind == admission.Lease && !s.Expires.Before(s.Start.Add(o.rules.Max))
		if tooLong || v.misses > o.rules.Returns {
			o.end(s.Ticket)
		}
	}
}

// offer gives what is free to those first in line.
func (o *Oracle) offer() {
	free := o.free()
	for _, t := range o.waits()[:min(free, len(o.waits()))] {
		v := o.visitor(t)
		expires := o.now().Add(o.rules.Claim)
		if v.near == 0 || v.near < o.near.number-1 {
			expires = expires.Add(o.rules.PollMax)
		}
		o.hold(admission.Slot{Ticket: t, Kind: admission.Offer, Start: o.now(), Expires: expires})
		o.seq++
		if o.rules.AdmitRate > 0 {
			o.allowance -= 60_000
		}
	}
}

// forget moves the base up to the first who is live, kept, or has a slot.
func (o *Oracle) forget() {
	o.based = o.now()
	lowest := o.tail + 1
	for t, v := range o.visitors {
		kept := v.kept > 0 && v.kept >= o.kept.number-1
		if t < lowest && (o.live(t) || kept || o.slots[t] != nil) {
			lowest = t
		}
	}
	o.moveTo(lowest / 64 * 64)
}

func (o *Oracle) moveTo(base admission.Ticket) {
	o.base = max(o.base, base)
	maps.DeleteFunc(o.visitors, func(t admission.Ticket, _ *visitor) bool { return t < o.base })
}

func (o *Oracle) snapshot(waiting []admission.Ticket, since uint64) admission.Snapshot {
	s := admission.Snapshot{
		Standing: o.standing(), Rules: o.rules, Tail: o.tail, Base: o.base, Admitted: o.admitted, SoldOut: o.soldOut,
		Waiting: set(waiting...), Missed: map[admission.Ticket]int{}, Replicas: maps.Clone(o.replicas),
		EndedAll: since == 0 || since < o.floor,
	}
	if o.now().Before(o.gives) {
		s.Gives = o.gives
	}
	for _, t := range slices.Sorted(maps.Keys(o.slots)) {
		s.Slots = append(s.Slots, *o.slots[t])
	}
	for t, v := range o.visitors {
		if v.ended && (s.EndedAll || v.endedAt > since) {
			s.Ended.Set(t)
		}
		if v.misses > 0 && (s.EndedAll || v.missedAt > since) {
			s.Missed[t] = v.misses
		}
	}
	return s
}
