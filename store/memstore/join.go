package memstore

import "foyer/admission"

// replyKept is how long the answer to a Join is remembered, in milliseconds.
const replyKept = 60_000

// replies are the answers to recent Joins by request id.
type replies struct {
	byID  map[string]admission.Joined
	order []replyAge
}

type replyAge struct {
	id      string
	expires int64
}

func (r *replies) get(id string, now int64) (admission.Joined, bool) {
	for len(r.order) > 0 && r.order[0].expires <= now {
		delete(r.byID, r.order[0].id)
		r.order = r.order[1:]
	}
	joined, ok := r.byID[id]
	return joined, ok
}

func (r *replies) put(id string, joined admission.Joined, now int64) {
	if r.byID == nil {
		r.byID = map[string]admission.Joined{}
	}
	r.byID[id] = joined
	r.order = append(r.order, replyAge{id: id, expires: now + replyKept})
}

func (l *line) join(join admission.Join, now int64) admission.Joined {
	if joined, ok := l.replies.get(join.ID, now); ok {
		joined.Standing = l.standing(now)
		return joined
	}
	if l.closed(now) {
		return admission.Joined{Standing: l.standing(now), Refusal: admission.RefusedClosed}
	}
	if now < l.joins {
		return admission.Joined{Standing: l.standing(now), Refusal: admission.RefusedStore}
	}
	leased := 0
	if l.waiting == 0 {
		leased = min(join.N, l.grantable(now))
	}
	joined := admission.Joined{
		First:  l.tail + 1,
		N:      min(join.N, leased+max(0, l.rules.QueueMax-l.waiting)),
		Leased: leased,
	}
	if joined.N < join.N {
		joined.Refusal = admission.RefusedFull
	}
	if joined.N == 0 {
		joined.First, joined.Standing = 0, l.standing(now)
		return joined
	}
	l.give(&joined, join.Family, now)
	joined.Standing = l.standing(now)
	if join.ID != "" {
		l.replies.put(join.ID, joined, now)
	}
	return joined
}

// give takes the tickets of a Join from the tail of the line.
func (l *line) give(joined *admission.Joined, family admission.Family, now int64) {
	live := &l.near
	if family == admission.Far {
		live = &l.far
	}
	for i := range joined.N {
		t := joined.First + admission.Ticket(i)
		if i >= joined.Leased {
			live.this.Set(t)
			continue
		}
		expires := now + l.rules.Claim.Milliseconds()
		l.hold(t, slot{kind: admission.Lease, start: now, expires: expires})
		joined.Expires = moment(expires)
	}
	l.tail += admission.Ticket(joined.N)
	l.waiting += joined.N - joined.Leased
	l.admitted += uint64(joined.Leased)
	l.spend(joined.Leased)
	l.seq++
}
