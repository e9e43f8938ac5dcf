package admission

import (
	"crypto/rand"
	dice "math/rand/v2"
	"time"
)

// middle is a dice that neither shortens nor lengthens an interval.
const middle = 0.5

// join asks the store for n tickets, for the joiner. Those who will be told the short interval and those who will be
// told a longer one are asked for apart, since they are live in different families.
func (r *Room) join(n int) []arrived {
	all := make([]arrived, 0, n)
	for len(all) < n {
		v := r.view.Load()
		if v == nil {
			return fill(all, n, arrived{err: errAside})
		}
		family, count := r.nextFamily(v, n-len(all))
		got, err := r.link.join(rand.Text(), count, family)
		if err != nil {
			return fill(all, n, arrived{err: err})
		}
		r.gave(got)
		for i := range got.N {
			one := arrived{standing: got.Standing, ticket: got.First + Ticket(i), family: family}
			if got.Leased > 0 {
				one.leased = got.First + Ticket(got.Leased) - 1
				one.expires = got.Expires
			}
			all = append(all, one)
		}
		if got.N < count {
			refusal := got.Refusal
			if refusal == NotRefused {
				refusal = RefusedFull
			}
			return fill(all, n, arrived{standing: got.Standing, refusal: refusal})
		}
	}
	return all
}

// fill makes a list n long by repeating one.
func fill(list []arrived, n int, one arrived) []arrived {
	for len(list) < n {
		list = append(list, one)
	}
	return list
}

// nextFamily is the family of the next of n arrivals, and how many of them share it.
func (r *Room) nextFamily(v *view, n int) (Family, int) {
	tail, leased := r.given()
	position := v.position(max(v.snap.Tail, tail)+1, leased)
	family, _ := v.pace(position, r.clock.now(), middle)
	if family == Near {
		n = min(n, v.nearLimit()-position+1)
	}
	return family, n
}

// given is the highest ticket given out here, and the highest that got a lease with it.
func (r *Room) given() (tail, leased Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tail, r.leased
}

// knows reports whether a ticket has been given out, as far as this replica has heard. Another would be counted as ended
// here for ever: no view says that it is, and some day somebody gets the number.
func (r *Room) knows(t Ticket) bool {
	tail, _ := r.given()
	if v := r.view.Load(); v != nil {
		tail = max(tail, v.snap.Tail)
	}
	return t <= tail
}

// gave takes over what a Join has given.
func (r *Room) gave(got Joined) {
	if got.N == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tail = max(r.tail, got.First+Ticket(got.N)-1)
	if got.Leased > 0 {
		r.leased = max(r.leased, got.First+Ticket(got.Leased)-1)
	}
}

// welcome is the answer to somebody who has just joined.
func (r *Room) welcome(v *view, h holder, got arrived, now time.Time) Verdict {
	t := Token{Visitor: h.Visitor, Round: got.standing.Round, Ticket: got.ticket, Joined: now}
	if t.Visitor == "" {
		t.Visitor = rand.Text()
	}
	if got.ticket <= got.leased {
		slot := Slot{Ticket: got.ticket, Kind: Lease, Start: got.standing.Now, Expires: got.expires}
		return r.admit(v, t, slot, now)
	}
	_, leased := r.given()
	position := v.position(t.Ticket, leased)
	family, after := v.pace(position, now, dice.Float64())
	if got.family == Near && family == Far { // the line has grown since he was entered as near
		after = jittered(v.snap.Rules.PollMin, dice.Float64(), 0)
	}
	return r.wait(v, t, place{standing: waiting}, position, after, now)
}
