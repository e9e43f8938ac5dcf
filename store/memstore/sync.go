package memstore

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"foyer/admission"
)

// How much one Sync does: so many slots ended and so many offered, the rest at the next; the base looked at so often;
// a replica unheard of for so long left out; so long without any Sync is silence, and without one of a replica means that
// its visitors may not be heard. Milliseconds.
const (
	perSync     = 500
	rebaseEvery = 1000
	replicaKept = 60_000
	silence     = 1000
	cutOff      = 500
)

func (l *line) sync(sync admission.Sync, now int64) admission.Snapshot {
	l.stand(now)
	if sync.SoldOut != nil {
		l.soldOut = *sync.SoldOut
	}
	l.excuse(now)
	l.prolong(sync, now)
	l.sweep(now)
	l.hear(within(sync.Near, l.base, l.tail), within(sync.Far, l.base, l.tail))
	l.turn(now)
	waiting := l.whoWaits()
	l.offer(&waiting, now)
	l.waiting = waiting.Count()
	l.log.trim(l.seq, now)
	l.rebase(now)
	l.replicas[sync.Replica] = now
	return l.snapshot(waiting.Rebase(l.base), sync.Since, now)
}

// stand lets the windows and the offers stand still for as long as no replica synced: nobody could be heard then. Else
// who polls at another replica than the first that is back would be passed over, and who could not claim would have
// missed an offer.
func (l *line) stand(now int64) {
	if passed := now - l.synced; passed > silence {
		l.near.turned += passed
		l.far.turned += passed
		l.kept.turned += passed
		for t, s := range l.slots {
			if s.kind == admission.Offer {
				s.expires += passed
				l.slots[t] = s
			}
		}
	}
	l.synced = now
}

// excuse forgives the offers of a time in which some replica could not be heard: their visitors may ask there, where
// nothing can be claimed. A replica that is gone for good is taken to be cut off until it is left out.
func (l *line) excuse(now int64) {
	for _, at := range l.replicas {
		if at < now-cutOff {
			l.fair = max(l.fair, now)
		}
	}
}

// hear notes who was told which interval. Whoever was told the far one is near no longer: an offer must last until they
// can hear of it. A poll of somebody with a slot does not count beyond that slot: reported twice, it would make two
// missed offers of one silence.
func (l *line) hear(near, far admission.Bitmap) {
	without(&near, l.held)
	or(&l.near.this, near)
	without(&l.near.this, far)
	without(&l.near.last, far)
	without(&far, l.held)
	or(&l.far.this, far)
}

// turn lets the windows go on; who falls silent is kept.
func (l *line) turn(now int64) {
	for _, dropped := range []admission.Bitmap{
		l.near.turn(now, l.rules.NearWindow().Milliseconds()),
		l.far.turn(now, l.rules.FarWindow().Milliseconds()),
	} {
		without(&dropped, l.ended)
		or(&l.kept.this, dropped)
	}
	l.kept.turn(now, l.rules.Keep.Milliseconds())
}

// prolong confirms the leases whose visitor has been seen, and keeps those with a request in flight.
func (l *line) prolong(sync admission.Sync, now int64) {
	for _, t := range sync.Confirmed {
		if s, ok := l.usable(t, now); ok && s.kind == admission.Lease {
			l.confirm(t, s, now)
		}
	}
	for _, t := range sync.Busy {
		s, ok := l.usable(t, now)
		if !ok || s.kind != admission.Lease {
			continue
		}
		until := now + l.rules.Claim.Milliseconds()
		if s.confirmed {
			until = now + l.rules.LeaseLife().Milliseconds()
		}
		until = min(until, s.start+l.rules.Max.Milliseconds())
		if until > s.expires {
			s.expires = until
			l.slots[t] = s
			l.seq++
		}
	}
}

// sweep ends the slots that have run out, the oldest first.
func (l *line) sweep(now int64) {
	var over []admission.Ticket
	for t, s := range l.slots {
		if s.expires <= now {
			over = append(over, t)
		}
	}
	slices.SortFunc(over, func(a, b admission.Ticket) int {
		return cmp.Or(cmp.Compare(l.slots[a].expires, l.slots[b].expires), cmp.Compare(decimal(a), decimal(b)))
	})
	for _, t := range over[:min(perSync, len(over))] {
		l.lapse(t, l.slots[t])
	}
}

// decimal orders tickets of one moment as a sorted set of Redis does.
func decimal(t admission.Ticket) string { return strconv.FormatUint(uint64(t), 10) }

// lapse ends one slot, and its ticket too where it has been long enough inside or has missed too many offers.
func (l *line) lapse(t admission.Ticket, s slot) {
	l.free(t)
	switch {
	case s.kind == admission.Leaving || t < l.base:
		return
	case s.kind == admission.Lease && s.expires >= s.start+l.rules.Max.Milliseconds():
		l.end(t)
		return
	case s.kind == admission.Offer && s.start >= l.fair:
		l.missed[t]++
		if l.missed[t] > l.rules.Returns {
			l.end(t)
			return
		}
		l.log.add(entry{seq: l.seq, ticket: t, missed: true})
	}
	l.kept.this.Set(t)
}

// whoWaits is who is live, without a slot, and not ended.
func (l *line) whoWaits() admission.Bitmap {
	waiting := l.near.this.Clone()
	waiting.Base = l.base
	or(&waiting, l.near.last)
	or(&waiting, l.far.this)
	or(&waiting, l.far.last)
	without(&waiting, l.ended)
	without(&waiting, l.held)
	return waiting
}

// offer gives the free slots to the lowest who wait, and takes them out of waiting.
func (l *line) offer(waiting *admission.Bitmap, now int64) {
	given, at := 0, l.base
	for range min(perSync, l.grantable(now)) {
		t, ok := waiting.Next(at)
		if !ok {
			break
		}
		expires := now + l.rules.Claim.Milliseconds()
		if !l.near.has(t) {
			expires += l.rules.PollMax.Milliseconds() // the visitor may not hear of it earlier
		}
		l.hold(t, slot{kind: admission.Offer, start: now, expires: expires})
		waiting.Clear(t)
		l.seq++
		given, at = given+1, t+1
	}
	l.spend(given)
}

// rebase moves the base up to the lowest ticket that is live, kept, or has a slot, so that the bitmaps stay as short
// as the line.
func (l *line) rebase(now int64) {
	if now < l.rebased+rebaseEvery {
		return
	}
	l.rebased = now
	lowest := l.tail + 1
	for _, b := range l.bitmaps()[1:] {
		if t, ok := b.Next(0); ok {
			lowest = min(lowest, t)
		}
	}
	l.cut(lowest / 64 * 64)
}

// cut counts everything from a higher base.
func (l *line) cut(base admission.Ticket) {
	if base <= l.base {
		return
	}
	l.base = base
	for _, b := range l.bitmaps() {
		*b = b.Rebase(base)
	}
	maps.DeleteFunc(l.missed, func(t admission.Ticket, _ int) bool { return t < base })
}

// bitmaps are all sets of tickets, first those who have ended.
func (l *line) bitmaps() []*admission.Bitmap {
	return []*admission.Bitmap{
		&l.ended, &l.held, &l.near.this, &l.near.last, &l.far.this, &l.far.last, &l.kept.this, &l.kept.last,
	}
}
