package memstore

import "foyer/admission"

// slot is one of the gate's K places; it counts until it is swept, and is of use until it expires.
type slot struct {
	kind           admission.Kind
	confirmed      bool
	start, expires int64
}

func (s slot) of(t admission.Ticket) admission.Slot {
	return admission.Slot{Ticket: t, Kind: s.kind, Confirmed: s.confirmed, Start: moment(s.start), Expires: moment(s.expires)}
}

// usable is the offer or lease of a ticket that has not run out, whether or not it has been swept.
func (l *line) usable(t admission.Ticket, now int64) (slot, bool) {
	s, ok := l.slots[t]
	return s, ok && s.expires > now && s.kind != admission.Leaving
}

// hold gives a ticket a slot. It is not live meanwhile, and its place is kept.
func (l *line) hold(t admission.Ticket, s slot) {
	l.slots[t] = s
	l.near.clear(t)
	l.far.clear(t)
	if t >= l.base {
		l.held.Set(t)
		l.kept.this.Set(t)
	}
}

// free takes a slot away.
func (l *line) free(t admission.Ticket) {
	delete(l.slots, t)
	l.held.Clear(t)
	l.seq++
}

// end takes a ticket out of the line for good.
func (l *line) end(t admission.Ticket) {
	l.seq++
	delete(l.missed, t)
	for _, w := range []*window{&l.near, &l.far, &l.kept} {
		w.clear(t)
	}
	if t >= l.base {
		l.ended.Set(t)
		l.log.add(entry{seq: l.seq, ticket: t})
	}
}

func (l *line) claim(t admission.Ticket, now int64) admission.Slot {
	s, ok := l.usable(t, now)
	switch {
	case !ok:
		return admission.Slot{Ticket: t}
	case s.kind == admission.Lease:
		return l.confirm(t, s, now).of(t)
	}
	s = slot{kind: admission.Lease, confirmed: true, start: now}
	s.expires = now + min(l.rules.LeaseLife(), l.rules.Max).Milliseconds()
	l.slots[t] = s
	l.admitted++
	l.seq++
	return s.of(t)
}

// confirm notes that a lease's visitor has shown the token; from then on the lease lasts as long as a renewal gives it.
func (l *line) confirm(t admission.Ticket, s slot, now int64) slot {
	if s.confirmed {
		return s
	}
	s.confirmed = true
	s.expires = max(s.expires, min(now+l.rules.LeaseLife().Milliseconds(), s.start+l.rules.Max.Milliseconds()))
	l.slots[t] = s
	l.seq++
	return s
}

func (l *line) renew(t admission.Ticket, until, now int64) admission.Slot {
	s, ok := l.usable(t, now)
	if !ok || s.kind != admission.Lease {
		return admission.Slot{Ticket: t}
	}
	end := s.start + l.rules.Max.Milliseconds()
	if l.rules.Hold > 0 && until > end {
		end += (l.rules.Hold + admission.HoldMargin).Milliseconds()
	}
	renewed := s
	renewed.confirmed = true
	renewed.expires = max(s.expires, min(until, end))
	if renewed != s {
		l.slots[t] = renewed
		l.seq++
	}
	return renewed.of(t)
}

func (l *line) release(t admission.Ticket, now int64) {
	s, has := l.slots[t]
	gone := t == 0 || t > l.tail || l.ended.Has(t) || t < l.base
	if has && s.kind != admission.Leaving {
		s.kind, s.expires = admission.Leaving, now+2*admission.Tick.Milliseconds()
		l.slots[t] = s
		l.seq++
	}
	if !gone {
		if !has && (l.near.has(t) || l.far.has(t)) {
			l.waiting = max(0, l.waiting-1)
		}
		l.end(t)
	}
}
