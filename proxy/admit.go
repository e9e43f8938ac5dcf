package proxy

import (
	"net/http"
	"strings"
	"time"

	"foyer/admission"
)

// passUngated lets requests through to the embedded shop that concern what a visitor has already. The shop gets to
// know who it is, and asks for a slot where it finds that one is needed. Whoever is inside goes the usual way, so that
// what he does keeps the slot.
func passUngated(next handler) handler {
	return func(x *exchange) {
		if x.gate.Upstream.Handler == nil || !anyMatches(x.gate.ungated, x.path.Decoded) {
			next(x)
			return
		}
		x.label = "ungated"
		v, known := x.gate.Room.Identify(x.tokens)
		if known {
			x.verdict = v
		}
		if known && holdsSlot(v) {
			if again := x.gate.Room.Visit(x.r.Context(), x.tokens, false); again.Outcome == admission.Admit {
				x.enter(again, forward)
				return
			}
			x.verdict.Outcome = admission.Wait
		}
		forward(x)
	}
}

// holdBack answers what a browser asks for on its own, without a pass: a prefetch, a prerender, a preflight. It must
// not cost a place, nor claim an offer that nobody looks at.
func holdBack(next handler) handler {
	return func(x *exchange) {
		if !speculative(x.r) {
			next(x)
			return
		}
		v := x.gate.Room.Status(x.r.Context(), x.tokens)
		if v.Status.State != admission.StateOffered {
			v = x.gate.Room.Visit(x.r.Context(), x.tokens, false)
		}
		if v.Outcome == admission.Admit {
			x.label = "admit"
			x.enter(v, forward)
			return
		}
		x.verdict, x.plain = v, true
		x.label = kindWaiting.name
		p := plea{kind: kindWaiting, poll: v.Status.PollAfter, detail: "a speculative request takes no place in line"}
		if v.Status.State != "" {
			queue := newStatus(x.gate.Name, v.Status)
			p.queue = &queue
		}
		x.plead(x.w, p)
	}
}

// speculative reports whether a browser asks without anybody having asked for it.
func speculative(r *http.Request) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz"} {
		if purpose := r.Header.Get(name); strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") {
			return true
		}
	}
	return r.Method == http.MethodOptions
}

// limitJoins bounds the newcomers of one network. Whoever has a token of ours is none.
func limitJoins(next handler) handler {
	return func(x *exchange) {
		if x.mayJoin() {
			next(x)
			return
		}
		x.label = kindRateLimited.name
		x.refuse(x.w, kindRateLimited, "too many new visitors from this network; try again in a minute")
	}
}

// mayJoin takes one join from the budget of a newcomer's network.
func (x *exchange) mayJoin() bool {
	if x.table.joins == nil {
		return true
	}
	if _, known := x.gate.Room.Identify(x.tokens); known {
		return true
	}
	return x.table.joins.allow(x.client.group(), time.Now())
}

// admit asks the room, and forwards or answers as it says.
func admit(next handler) handler {
	return func(x *exchange) {
		v := x.gate.Room.Visit(x.r.Context(), x.tokens, true)
		if v.Outcome != admission.Admit {
			x.judged(v)
			x.wait(x.w)
			return
		}
		x.label = "admit"
		x.enter(v, next)
	}
}

// enter counts an admitted exchange as in flight while next deals with it, if it has a slot: in modes off and shadow it
// may have none.
func (x *exchange) enter(v admission.Verdict, next handler) {
	x.judged(v)
	if !holdsSlot(v) {
		next(x)
		return
	}
	leave, ok := x.gate.Room.Enter(x.r.Context(), v.Ticket)
	if !ok {
		x.label = "busy"
		x.refuse(x.w, kindBusy, "too many requests at once on one pass")
		return
	}
	defer leave()
	next(x)
}

// holdsSlot reports whether an admitted visitor is counted among those inside.
func holdsSlot(v admission.Verdict) bool {
	return v.Outcome == admission.Admit && v.Ticket != 0 && v.Status.State == admission.StateAdmitted
}
