package admission

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// view is a gate as the last Sync showed it. It never changes; the next Sync makes another. Everything that is decided
// about a visitor is decided from a view, a token and the time.
type view struct {
	snap   Snapshot
	rank   Rank           // over snap.Waiting
	ended  Bitmap         // every ended ticket from snap.Base on
	missed map[Ticket]int // every count of offers let lapse
	flow   flow
}

// newView continues a view, nil at first, with the next snapshot.
func newView(last *view, snap Snapshot, flow flow) *view {
	v := &view{
		snap: snap, rank: NewRank(snap.Waiting), ended: snap.Ended.Rebase(snap.Base), missed: snap.Missed, flow: flow,
	}
	if !snap.EndedAll && last != nil {
		v.ended = union(last.ended.Rebase(snap.Base), v.ended)
		v.missed = last.missed
		if len(snap.Missed) > 0 || snap.Base != last.snap.Base {
			v.missed = merged(last.missed, snap.Missed, snap.Base)
		}
	}
	return v
}

// merged is older with newer put over it, without what lies below base.
func merged(older, newer map[Ticket]int, base Ticket) map[Ticket]int {
	all := make(map[Ticket]int, len(older)+len(newer))
	maps.Copy(all, newer)
	for t, n := range older {
		if _, known := all[t]; !known && t >= base {
			all[t] = n
		}
	}
	return all
}

// union is a ∪ b, both counted from the same base. It may share its memory with either.
func union(a, b Bitmap) Bitmap {
	if len(a.Bits) < len(b.Bits) {
		a, b = b, a
	}
	cloned := false
	for i := 0; i < len(b.Bits); i++ {
		if i+8 <= len(b.Bits) && binary.NativeEndian.Uint64(b.Bits[i:]) == 0 {
			i += 7 // mostly few tickets are added to many
			continue
		}
		if b.Bits[i]&^a.Bits[i] == 0 {
			continue
		}
		if !cloned {
			a, cloned = a.Clone(), true
		}
		a.Bits[i] |= b.Bits[i]
	}
	return a
}

// slot is the slot of a ticket; Kind NoSlot where it has none, or had one that is over by now.
func (v *view) slot(t Ticket, now time.Time) Slot {
	i, ok := slices.BinarySearchFunc(v.snap.Slots, t, func(s Slot, t Ticket) int { return cmp.Compare(s.Ticket, t) })
	if !ok || !now.Before(v.snap.Slots[i].Expires) {
		return Slot{}
	}
	return v.snap.Slots[i]
}

// free is how many slots nobody has.
func (v *view) free() int { return max(0, v.snap.Rules.Capacity-len(v.snap.Slots)) }

// waiting is how many wait.
func (v *view) waiting() int { return v.rank.Len() }

// position is where a waiting ticket stands: 1 + those who wait below it. Tickets that were given out since the
// snapshot are taken to be waiting, but for those up to leased, so that it does not rise when they turn out to be.
func (v *view) position(t, leased Ticket) int {
	position := 1 + v.rank.Below(t)
	if known := max(v.snap.Tail, leased); t > known+1 {
		position += int(t - known - 1)
	}
	return position
}

// state is what a visitor who waits is told.
func (v *view) state(now time.Time, soldOut bool) State {
	rules := v.snap.Rules
	switch {
	case soldOut:
		return StateSoldOut
	case closed(rules, now):
		return StateClosed
	case rules.Mode == ModePaused:
		return StatePaused
	case now.Before(rules.OpensAt):
		return StateLobby
	}
	return StateWaiting
}

// closed reports whether the gate gives out nothing any more.
func closed(rules Rules, now time.Time) bool {
	return !rules.ClosesAt.IsZero() && !now.Before(rules.ClosesAt)
}

// etaOf estimates the wait of a ticket at a position. One that the view does not know yet was given without a slot, so
// that a slot which is free in the view is not any more, unless something else than a buyer keeps it free.
func (v *view) etaOf(t Ticket, position int, now time.Time) *Eta {
	free := v.free()
	if rules := v.snap.Rules; t > v.snap.Tail && rules.AdmitRate == 0 && !now.Before(rules.OpensAt) {
		free = 0
	}
	return v.eta(position, free, now)
}

// eta estimates the wait of a position while so many slots are free; nil while nobody knows.
func (v *view) eta(position, free int, now time.Time) *Eta {
	rules := v.snap.Rules
	if rules.Mode == ModePaused || closed(rules, now) {
		return nil
	}
	eta := v.flow.estimate(position, free, rules.AdmitRate)
	if opens := rules.OpensAt.Sub(now); eta != nil && opens > 0 {
		eta.Low += opens
		eta.High += opens
	}
	return eta
}
