package memstore

import (
	"maps"

	"foyer/admission"
)

// restoring is what a line knows of having been lost.
type restoring struct {
	born       int64  // when this line began, or was last found to have been lost
	found      uint64 // the step that the store itself still knew
	joins      int64  // no ticket is given before
	gives      int64  // no slot is given before
	passed     bool   // the store is known to lack something
	incomplete bool   // not every replica has put in its image
}

// restored begins the line that an image holds, for a store that holds none; restore fills it.
func restored(run string, image admission.Image, now int64) *line {
	l := newLine(run, image.Round, image.File, now)
	l.rules, l.soldOut = rounded(image.Rules), image.SoldOut
	l.rebaseTo(image.Base)
	l.tail = max(l.base, 1) - 1
	l.passed = true
	return l
}

// restore takes over what an image knows and the line does not.
func (l *line) restore(image admission.Image, now int64) {
	clock := l.clockOff(image.Seen, now, late) != nil
	news := image.Seq > l.seq
	known := millis(image.AsOf) > l.born && !news || image.Seq <= l.found
	if clock || image.Round != "" && news && millis(image.AsOf) > l.born {
		l.born = now // lost, and only now found to be
	}
	l.passed = l.passed || clock || news && image.Round != ""
	if image.Round != "" && !known {
		if image.Round != l.round && news {
			l.replace(image, now)
		}
		if image.Round == l.round {
			l.merge(image, news, now)
		}
		l.seq = max(l.seq, image.Seq) + 1
		l.log = journal{floor: l.seq, mark: l.seq, marked: now}
		waiting := l.whoWaits()
		l.waiting = waiting.Count()
	}
	l.pause()
}

// pause puts off tickets and slots while something may be missing.
func (l *line) pause() {
	l.joins, l.gives = 0, 0
	if l.passed || l.incomplete {
		l.joins = l.born + admission.RestoreWait.Milliseconds()
		l.gives = l.born + l.rules.PassLife().Milliseconds()
		l.fair = max(l.fair, l.gives+2*l.rules.FarWindow().Milliseconds()) // many are taken to be live who are not
	}
}

// replace begins the round of an image that has seen more. Those inside from rounds before it stay.
func (l *line) replace(image admission.Image, now int64) {
	l.reset(image.Round, now)
	for t := range l.slots {
		if t >= image.Base {
			delete(l.slots, t)
		}
	}
	l.rebaseTo(image.Base)
	l.tail = max(l.base, 1) - 1
	l.born = now
}

// rebaseTo counts everything from another base; nothing is in the bitmaps yet.
func (l *line) rebaseTo(base admission.Ticket) {
	l.base = base
	empty := admission.Bitmap{Base: base}
	l.ended, l.held = empty, empty
	for _, w := range []*window{&l.near, &l.far, &l.kept} {
		w.this, w.last = empty, empty
	}
}

// merge unites an image of this round with the line: the highest tail, ended wins over a slot, of two ends the later.
func (l *line) merge(image admission.Image, news bool, now int64) {
	if news {
		l.file, l.rules, l.soldOut = rounded(image.File), rounded(image.Rules), image.SoldOut
	}
	l.tail = max(l.tail, image.Tail+admission.Ticket(image.Spare))
	l.admitted = max(l.admitted, image.Admitted)
	l.cut(image.Base)
	or(&l.ended, within(image.Ended, l.base, l.tail))
	waiting := within(image.Waiting, l.base, l.tail).Clone()
	without(&waiting, l.held)
	or(&l.far.this, waiting)
	without(&l.far.this, l.ended)
	or(&l.kept.this, span(l.base, l.tail)) // who was silent at the time is in no image
	without(&l.kept.this, l.ended)
	for t, n := range image.Missed {
		if t >= l.base {
			l.missed[t] = max(l.missed[t], n)
		}
	}
	maps.DeleteFunc(l.missed, func(t admission.Ticket, _ int) bool { return l.ended.Has(t) })
	for t, s := range l.slots {
		if l.ended.Has(t) && s.kind != admission.Leaving {
			s.kind, s.expires = admission.Leaving, now+2*admission.Tick.Milliseconds()
			l.slots[t] = s
		}
	}
	for _, s := range image.Slots {
		l.unite(s, now)
	}
}

// unite takes over a slot of an image, while capacity allows.
func (l *line) unite(image admission.Slot, now int64) {
	t := image.Ticket
	s := slot{
		kind: image.Kind, confirmed: image.Confirmed,
		start: min(now, millis(image.Start)), expires: min(millis(image.Expires), now+l.longest()),
	}
	if s.kind != admission.Offer && s.kind != admission.Lease || s.expires <= now || t > l.tail || l.ended.Has(t) {
		return
	}
	if s.kind == admission.Offer { // nobody could claim while the store was away
		s.expires = max(s.expires, now+l.rules.Claim.Milliseconds())
	}
	has, ok := l.slots[t]
	switch {
	case !ok && len(l.slots) < l.rules.Capacity:
		l.hold(t, s)
	case !ok || has.kind == admission.Leaving || has.kind == admission.Lease && s.kind == admission.Offer:
	case has.kind == admission.Offer && s.kind == admission.Lease:
		l.slots[t] = s
	default:
		has.confirmed = has.confirmed || s.confirmed
		has.start, has.expires = min(has.start, s.start), max(has.expires, s.expires)
		l.slots[t] = has
	}
}

// longest is the longest that any slot has left to live by itself.
func (l *line) longest() int64 {
	longest := max(l.rules.LeaseLife(), l.rules.Claim+l.rules.PollMax)
	if l.rules.Hold > 0 {
		longest = max(longest, l.rules.Hold+admission.HoldMargin)
	}
	return longest.Milliseconds()
}

// vouch takes over what a signed token proves.
func (l *line) vouch(proof admission.Proof, now int64) admission.Slot {
	t := proof.Ticket
	switch {
	case proof.Round != l.round && t >= l.base:
		if until := l.born + l.rules.PassLife().Milliseconds(); proof.Pass && now < until {
			l.gives = max(l.gives, until)
		}
		return admission.Slot{Ticket: t}
	case t > l.tail:
		l.tail = t
		l.seq++
	}
	if t >= l.base && !l.ended.Has(t) {
		l.kept.this.Set(t)
	}
	s, ok := l.usable(t, now)
	if proof.Pass && !(ok && s.kind == admission.Lease) {
		l.readmit(proof, now)
		s, ok = l.usable(t, now)
	}
	if !ok || s.kind != admission.Lease {
		return admission.Slot{Ticket: t}
	}
	return s.of(t)
}

// readmit gives the holder of a pass its lease back, if the lease may be one that was lost.
func (l *line) readmit(proof admission.Proof, now int64) {
	t := proof.Ticket
	s := slot{kind: admission.Lease, confirmed: true, start: min(now, millis(proof.Start))}
	s.expires = min(millis(proof.Expires)+l.rules.Leeway.Milliseconds(), now+l.longest())
	has, ok := l.slots[t]
	full := !ok && len(l.slots) >= l.rules.Capacity
	if now >= l.gives || s.expires <= now || l.ended.Has(t) || full || ok && has.kind == admission.Leaving {
		return
	}
	l.hold(t, s)
	l.seq++
}

// span is every ticket from first to last but zero, counted from first, a multiple of 64.
func span(first, last admission.Ticket) admission.Bitmap {
	if last < first {
		return admission.Bitmap{Base: first}
	}
	bits := make([]byte, (last-first)/8+1)
	for i := range bits {
		bits[i] = 0xff
	}
	return within(admission.Bitmap{Base: first, Bits: bits}, first, last)
}
