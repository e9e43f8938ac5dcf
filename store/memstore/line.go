package memstore

import (
	"fmt"
	"reflect"
	"time"

	"foyer/admission"
)

// tolerance is the least by which the clock may differ from what a caller expects: a call's own time-out, since an
// answer that comes later is no answer.
const tolerance = 250 * time.Millisecond

// late is the longest that a call whose answer is still read may have been under way: a clock that is off by less may
// not have been set.
const late = time.Second

// perOffer is the price of an offer in the units of the allowance, which grows by AdmitRate units a millisecond.
const perOffer = 60_000

// line is the state of a gate. Times are Unix milliseconds; all bitmaps count from base.
type line struct {
	run, round  string
	seq         uint64
	file, rules admission.Rules
	tail, base  admission.Ticket
	admitted    uint64
	soldOut     bool
	waiting     int // as of the last Sync, and those joined since

	near, far   window // who is live
	kept        window // whose place is kept although silent
	ended, held admission.Bitmap
	slots       map[admission.Ticket]slot
	missed      map[admission.Ticket]int
	log         journal
	replies     replies
	replicas    map[string]int64 // last Sync

	allowance, filled int64 // of offers, and when it was reckoned
	rebased           int64 // when base was last looked at
	synced            int64 // the last Sync of any replica
	fair              int64 // an offer from before that is missed counts for nothing: its visitor may not have been heard

	restoring
}

func newLine(run, round string, file admission.Rules, now int64) *line {
	file = rounded(file)
	l := &line{
		run: run, round: round, file: file, rules: file,
		slots:    map[admission.Ticket]slot{},
		missed:   map[admission.Ticket]int{},
		replicas: map[string]int64{},
		near:     window{turned: now}, far: window{turned: now}, kept: window{turned: now},
		filled: now, rebased: now, synced: now,
	}
	l.log.marked, l.born = now, now
	l.allowance = l.full()
	return l
}

// known refuses a caller who has seen another line than this.
func (l *line) known(seen admission.Seen, now int64) error {
	switch {
	case seen.Run != "" && seen.Run != l.run:
		return fmt.Errorf("%w: another incarnation", admission.ErrLost)
	case l.seq < seen.Seq:
		return fmt.Errorf("%w: at step %d, after step %d was seen", admission.ErrLost, l.seq, seen.Seq)
	}
	return l.clockOff(seen, now, tolerance)
}

// clockOff is the error of a clock that does not show what the caller expects, give or take.
func (l *line) clockOff(seen admission.Seen, now int64, tolerance time.Duration) error {
	if seen.Now.IsZero() {
		return nil
	}
	off := time.Duration(now-seen.Now.UnixMilli()) * time.Millisecond
	if off.Abs() > max(tolerance, l.rules.Leeway) {
		return fmt.Errorf("%w: its clock is off by %v", admission.ErrLost, off)
	}
	return nil
}

func (l *line) standing(now int64) admission.Standing {
	return admission.Standing{Run: l.run, Seq: l.seq, Now: moment(now), Round: l.round}
}

// configure takes over each value that differs from what the file had before.
func (l *line) configure(file admission.Rules) {
	file = rounded(file)
	before, effective, now := reflect.ValueOf(&l.file).Elem(), reflect.ValueOf(&l.rules).Elem(), reflect.ValueOf(file)
	for i := range now.NumField() {
		if !reflect.DeepEqual(before.Field(i).Interface(), now.Field(i).Interface()) {
			before.Field(i).Set(now.Field(i))
			effective.Field(i).Set(now.Field(i))
		}
	}
}

func (l *line) change(change admission.Change) {
	if change.Mode != nil {
		l.rules.Mode = *change.Mode
	}
	if change.Capacity != nil {
		l.rules.Capacity = *change.Capacity
	}
	if change.AdmitRate != nil {
		l.rules.AdmitRate = *change.AdmitRate
	}
}

// reset ends everybody but those with a lease, who keep it although their tickets are below the new base.
func (l *line) reset(round string, now int64) {
	if round == l.round {
		return
	}
	l.round = round
	l.base = (l.tail/64 + 1) * 64
	l.tail = l.base - 1
	l.seq++
	l.admitted, l.waiting, l.soldOut = 0, 0, false
	for t, s := range l.slots {
		if s.kind == admission.Offer {
			delete(l.slots, t)
		}
	}
	empty := admission.Bitmap{Base: l.base}
	l.ended, l.held = empty, empty
	for _, w := range []*window{&l.near, &l.far, &l.kept} {
		*w = window{this: empty, last: empty, turned: now}
	}
	clear(l.missed)
	l.replies = replies{}
	l.log = journal{floor: l.seq, mark: l.seq, marked: now}
}

// open reports whether slots are given at all.
func (l *line) open(now int64) bool {
	giving := l.rules.Mode == admission.ModeOn || l.rules.Mode == admission.ModeShadow
	return giving && now >= millis(l.rules.OpensAt) && !l.closed(now)
}

func (l *line) closed(now int64) bool {
	return !l.rules.ClosesAt.IsZero() && now >= millis(l.rules.ClosesAt)
}

// grantable is how many slots may be given now: what capacity and rate leave free.
func (l *line) grantable(now int64) int {
	if !l.open(now) || now < l.gives {
		return 0
	}
	free := max(0, l.rules.Capacity-len(l.slots))
	if l.rules.AdmitRate == 0 {
		return free
	}
	return min(free, int(l.refill(now)/perOffer))
}

// refill reckons the allowance up to now. It never piles up: one second's worth at most, and at least one.
func (l *line) refill(now int64) int64 {
	passed := min(max(0, now-l.filled), 60_000)
	l.allowance = min(l.full(), l.allowance+passed*int64(l.rules.AdmitRate))
	l.filled = now
	return l.allowance
}

func (l *line) full() int64 { return max(perOffer, int64(l.rules.AdmitRate)*1000) }

// spend takes n offers from the allowance.
func (l *line) spend(n int) {
	if l.rules.AdmitRate > 0 {
		l.allowance -= int64(n) * perOffer
	}
}

// rounded is r in whole milliseconds, as the stores keep it.
func rounded(r admission.Rules) admission.Rules {
	r.OpensAt, r.ClosesAt = moment(millis(r.OpensAt)), moment(millis(r.ClosesAt))
	for _, d := range []*time.Duration{&r.Idle, &r.Max, &r.Claim, &r.Hold, &r.Keep, &r.PollMin, &r.PollMax, &r.Leeway} {
		*d = d.Truncate(time.Millisecond)
	}
	return r
}

// millis and moment turn times into Unix milliseconds and back; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
