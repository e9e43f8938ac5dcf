package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"foyer/admission"
)

// Oracle is a line as one would describe it: a list of visitors, looked through from front to back at every step. It is
// slow, keeps no bitmaps, and is what the stores must agree with.
type Oracle struct {
	now func() time.Time

	begun       bool
	run, round  string
	seq         uint64
	file, rules admission.Rules
	tail, base  admission.Ticket
	admitted    uint64
	soldOut     bool
	count       int // who waits, as of the last Sync, and those joined since

	visitors        map[admission.Ticket]*visitor
	slots           map[admission.Ticket]*admission.Slot
	joins           map[string]remembered
	replicas        map[string]time.Time
	near, far, kept period
	floor, mark     uint64
	marked          time.Time
	allowance       int64 // of offers, in 60,000ths
	filled          time.Time
	based, synced   time.Time
	born, joinsFrom time.Time
	gives, fair     time.Time
	passed          bool
}

// visitor is a ticket that has not been forgotten: in which periods it was last seen, and what became of it.
type visitor struct {
	near, far, kept int // the period's number, 0: never
	ended           bool
	endedAt         uint64
	misses          int
	missedAt        uint64
}

// period is one length of time after another, numbered.
type period struct {
	number int
	began  time.Time
}

type remembered struct {
	joined admission.Joined
	until  time.Time
}

var _ admission.Store = (*Oracle)(nil)

// NewOracle makes an empty line.
func NewOracle(now func() time.Time) *Oracle { return &Oracle{now: now, run: fmt.Sprint(now())} }

func (o *Oracle) found(round string, file admission.Rules) {
	now := o.now()
	*o = Oracle{
		now: o.now, run: o.run, begun: true, round: round, file: file, rules: file,
		visitors: map[admission.Ticket]*visitor{}, slots: map[admission.Ticket]*admission.Slot{},
		joins: map[string]remembered{}, replicas: map[string]time.Time{},
		near: period{2, now}, far: period{2, now}, kept: period{2, now},
		marked: now, filled: now, based: now, synced: now, born: now,
	}
	o.allowance = max(60_000, int64(file.AdmitRate)*1000)
}

func (o *Oracle) standing() admission.Standing {
	return admission.Standing{Run: o.run, Seq: o.seq, Now: o.now(), Round: o.round}
}

func (o *Oracle) lost(seen admission.Seen) error {
	if !o.begun || seen.Run != "" && seen.Run != o.run || seen.Seq > o.seq || o.clockOff(seen, 250*time.Millisecond) {
		return admission.ErrLost
	}
	return nil
}

func (o *Oracle) clockOff(seen admission.Seen, tolerance time.Duration) bool {
	return !seen.Now.IsZero() && o.now().Sub(seen.Now).Abs() > max(tolerance, o.rules.Leeway)
}

func (o *Oracle) visitor(t admission.Ticket) *visitor {
	if o.visitors[t] == nil {
		o.visitors[t] = &visitor{}
	}
	return o.visitors[t]
}

func (o *Oracle) live(t admission.Ticket) bool {
	v := o.visitors[t]
	return v != nil && (v.near > 0 && v.near >= o.near.number-1 || v.far > 0 && v.far >= o.far.number-1)
}

func (o *Oracle) ended(t admission.Ticket) bool { return o.visitors[t] != nil && o.visitors[t].ended }

// waits are those who are live, without a slot, and not ended, in order.
func (o *Oracle) waits() (waiting []admission.Ticket) {
	for _, t := range slices.Sorted(maps.Keys(o.visitors)) {
		if o.live(t) && o.slots[t] == nil && !o.ended(t) {
			waiting = append(waiting, t)
		}
	}
	return waiting
}

// free is how many slots may be given now.
func (o *Oracle) free() int {
	now, r := o.now(), o.rules
	if r.Mode != admission.ModeOn && r.Mode != admission.ModeShadow || now.Before(o.gives) ||
		now.Before(r.OpensAt) || o.closed() {
		return 0
	}
	free := max(0, r.Capacity-len(o.slots))
	if r.AdmitRate == 0 {
		return free
	}
	passed := min(now.Sub(o.filled), time.Minute).Milliseconds()
	o.allowance = min(max(60_000, int64(r.AdmitRate)*1000), o.allowance+passed*int64(r.AdmitRate))
	o.filled = now
	return min(free, int(o.allowance/60_000))
}

func (o *Oracle) closed() bool {
	return !o.rules.ClosesAt.IsZero() && !o.now().Before(o.rules.ClosesAt)
}

// hold gives a ticket a slot.
func (o *Oracle) hold(slot admission.Slot) {
	o.slots[slot.Ticket] = &slot
	if slot.Ticket >= o.base {
		v := o.visitor(slot.Ticket)
		v.near, v.far, v.kept = 0, 0, o.kept.number
	}
}

func (o *Oracle) end(t admission.Ticket) {
	o.seq++
	v := o.visitor(t)
	*v = visitor{ended: true, endedAt: o.seq}
}

// usable is a slot that may still be used, or nil.
func (o *Oracle) usable(t admission.Ticket) *admission.Slot {
	if s := o.slots[t]; s != nil && s.Kind != admission.Leaving && s.Expires.After(o.now()) {
		return s
	}
	return nil
}

// Begin is as admission.Store says.
func (o *Oracle) Begin(_ context.Context, round string, file admission.Rules) (admission.Standing, error) {
	if !o.begun {
		o.found(round, file)
	}
	return o.standing(), nil
}

// Configure is as admission.Store says; of the keys, the walk changes the capacity alone.
func (o *Oracle) Configure(_ context.Context, seen admission.Seen, file admission.Rules) (admission.Standing, error) {
	if err := o.lost(seen); err != nil {
		return admission.Standing{}, err
	}
	if file.Capacity != o.file.Capacity {
		o.rules.Capacity = file.Capacity
	}
	o.file = file
	return o.standing(), nil
}

// Change is as admission.Store says.
func (o *Oracle) Change(_ context.Context, seen admission.Seen, change admission.Change) (admission.Standing, error) {
	if err := o.lost(seen); err != nil {
		return admission.Standing{}, err
	}
	o.rules.Mode, o.rules.Capacity = *change.Mode, *change.Capacity
	return o.standing(), nil
}
