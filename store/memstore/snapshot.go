package memstore

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"foyer/admission"
)

// snapshot is the state as a replica keeps it; waiting becomes the replica's.
func (l *line) snapshot(waiting admission.Bitmap, since uint64, now int64) admission.Snapshot {
	snapshot := admission.Snapshot{
		Standing: l.standing(now),
		Rules:    l.rules,
		Tail:     l.tail,
		Base:     l.base,
		Waiting:  waiting,
		Slots:    l.sorted(),
		Admitted: l.admitted,
		SoldOut:  l.soldOut,
		Replicas: l.heard(now),
	}
	if now < l.gives {
		snapshot.Gives = moment(l.gives)
	}
	entries, ok := l.log.after(since)
	if !ok {
		snapshot.EndedAll = true
		snapshot.Ended = l.ended.Clone()
		snapshot.Missed = maps.Clone(l.missed)
		return snapshot
	}
	snapshot.Ended = admission.Bitmap{Base: l.base}
	snapshot.Missed = map[admission.Ticket]int{}
	for _, e := range entries {
		switch {
		case e.ticket < l.base:
		case !e.missed:
			snapshot.Ended.Set(e.ticket)
		case l.missed[e.ticket] > 0:
			snapshot.Missed[e.ticket] = l.missed[e.ticket]
		}
	}
	return snapshot
}

// sorted is every slot, ascending by ticket.
func (l *line) sorted() []admission.Slot {
	slots := make([]admission.Slot, 0, len(l.slots))
	for t, s := range l.slots {
		slots = append(slots, s.of(t))
	}
	slices.SortFunc(slots, func(a, b admission.Slot) int { return cmp.Compare(a.Ticket, b.Ticket) })
	return slots
}

// heard is the last Sync of each replica of the last minute; the others are forgotten.
func (l *line) heard(now int64) map[string]time.Time {
	maps.DeleteFunc(l.replicas, func(_ string, at int64) bool { return at < now-replicaKept })
	heard := make(map[string]time.Time, len(l.replicas))
	for replica, at := range l.replicas {
		heard[replica] = moment(at)
	}
	return heard
}
