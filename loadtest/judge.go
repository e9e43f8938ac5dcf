package loadtest

import (
	"slices"
	"sync"
	"time"
)

// aware is how long it may take until every replica and the store know that somebody waits.
const aware = 250 * time.Millisecond

// Judge finds, from what visitors were told, who was passed over and who lost a place. It trusts nothing but the answers
// and the times in them.
//
// Somebody waits for certain from one fresh answer "waiting" to the next, as long as he asked when told to. Somebody who
// got in was given his slot after the last such answer and before he was inside. It is an inversion if somebody with a
// lower ticket waited for certain during all of that time: he was live, and next.
type Judge struct {
	mu         sync.Mutex
	last       map[int]*streak // by visitor, while it goes on
	streaks    []*streak
	admissions []admitted
	lost       []string
	putOut     int
}

// streak is a time in which somebody waited for certain.
type streak struct {
	ticket   uint64
	from, to time.Time
	next     time.Time // when the next answer must have come
}

// admitted is somebody who got in: the slot was given after after, and used at at.
type admitted struct {
	ticket    uint64
	after, at time.Time
}

// NewJudge is a judge who has seen nothing.
func NewJudge() *Judge { return &Judge{last: map[int]*streak{}} }

// Told takes over an answer that is not from behind the gate, as it came at got.
func (j *Judge) Told(visitor int, place Place, got time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if place.State != "waiting" || place.Reason != "" || place.AsOf.IsZero() || got.Sub(place.AsOf) > 2*aware {
		delete(j.last, visitor)
		return
	}
	s := j.last[visitor]
	if s == nil || s.ticket != place.Ticket || got.After(s.next) {
		s = &streak{ticket: place.Ticket, from: got.Add(aware)}
		j.last[visitor] = s
		j.streaks = append(j.streaks, s)
	}
	s.to, s.next = place.AsOf, got.Add(place.Again*5/4+50*time.Millisecond)
}

// Broke takes over that somebody got no answer.
func (j *Judge) Broke(visitor int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.last, visitor)
}

// Admitted takes over that somebody was inside at at; after is the time of the last answer that had him wait, or of the
// arrival.
func (j *Judge) Admitted(visitor int, ticket uint64, after, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.last, visitor)
	j.admissions = append(j.admissions, admitted{ticket, after, at})
}

// Lost takes over that somebody has another place than before, and no fault of his own explains it.
func (j *Judge) Lost(how string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lost = append(j.lost, how)
}

// PutOut takes over that somebody who was active inside has to wait again. The place is kept.
func (j *Judge) PutOut() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.putOut++
}

// Inversions is how many were let in past somebody who was live and next.
func (j *Judge) Inversions() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.admissions {
		if b.ticket != 0 && slices.ContainsFunc(j.streaks, func(a *streak) bool {
			return a.ticket != 0 && a.ticket < b.ticket && !a.from.After(b.after) && a.to.After(b.at)
		}) {
			n++
		}
	}
	return n
}

// LostPlaces says how each lost place was lost.
func (j *Judge) LostPlaces() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lost)
}

// PutOuts is how many active visitors had to wait again.
func (j *Judge) PutOuts() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.putOut
}

// NextAdmission is the first after an instant; zero: there was none.
func (j *Judge) NextAdmission(after time.Time) (first time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.admissions {
		if a.after.After(after) && (first.IsZero() || a.at.Before(first)) {
			first = a.at
		}
	}
	return first
}
