package admission

import (
	"context"
	"errors"
	"time"
)

// triesPerRequest is how many tokens of one request are looked at.
const triesPerRequest = 8

// holder is what a request says about its visitor.
type holder struct {
	Token      // zero where none of its tokens verifies
	known bool // one verifies
	fresh bool // and has not expired for longer than queue.keep: its ticket counts
}

// holder reads the tokens of a request: the first that verifies and is fresh counts, else the first that verifies
// still says who it is.
func (r *Room) holder(tokens []string, now time.Time) (h holder) {
	keep := r.rules().Keep
	for i, raw := range tokens {
		if i == triesPerRequest {
			break
		}
		token, rejected := r.tokens.Verify(raw)
		switch {
		case rejected != "":
			r.observer.Rejected(rejected)
		case !now.Before(token.Expires.Add(keep)):
			r.observer.Rejected(RejectedExpired)
			if !h.known {
				h = holder{Token: token, known: true}
			}
		default:
			return holder{Token: token, known: true, fresh: true}
		}
	}
	return h
}

// rules are the effective rules, or the file's before they are known.
func (r *Room) rules() Rules {
	if v := r.view.Load(); v != nil {
		return v.snap.Rules
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file
}

// place is where the holder of a token stands. One without a ticket that counts stands as ended.
func (r *Room) place(v *view, h holder, now time.Time) place {
	if !h.fresh {
		return place{standing: ended}
	}
	return v.place(h.Token, r.isGone(h.Ticket), now)
}

// Visit judges a request on a gated path: an offer is claimed, a pass renewed, and whoever has no ticket joins, if join
// says so.
func (r *Room) Visit(ctx context.Context, tokens []string, join bool) Verdict {
	v, now := r.view.Load(), r.clock.now()
	if verdict, aside := r.aside(v); aside {
		return verdict
	}
	verdict := r.visit(ctx, v, r.holder(tokens, now), join, now)
	if v.snap.Rules.Mode == ModeShadow {
		verdict.Outcome, verdict.Refusal = Admit, NotRefused
	}
	return verdict
}

// aside answers where the line is not asked at all: before the first Sync, in mode off, and while the store is away and
// the gate is to be open or closed.
func (r *Room) aside(v *view) (Verdict, bool) {
	mode, up := r.rules().Mode, v != nil && r.link.health() == storeUp
	passes := Verdict{Outcome: Admit, Status: Status{Gate: r.gate, State: StateAdmitted, AsOf: r.clock.now(), PollAfter: r.rules().PollMin}}
	switch {
	case mode == ModeOff, !up && (mode == ModeShadow || r.onError.Load() == Open):
		return passes, true
	case v == nil, !up && r.onError.Load() == Closed:
		return r.unavailable(v), true
	}
	return Verdict{}, false
}

// visit judges a request by a view.
func (r *Room) visit(ctx context.Context, v *view, h holder, join bool, now time.Time) Verdict {
	p := r.place(v, h, now)
	if r.link.health() != storeUp {
		return r.visitAlone(v, h, p, now)
	}
	r.observe(v, h, p, now)
	act, refusal := v.decide(h.Token, p, join, r.soldOut(v), now)
	switch act {
	case actAdmit:
		return r.pass(v, h.Token, now)
	case actRenew:
		return r.renew(v, h, p, now)
	case actClaim:
		return r.claim(v, h, p, now)
	case actJoin:
		return r.enroll(ctx, v, h, now)
	case actRefuse:
		return r.refuse(v, h, p, refusal, now)
	default:
		return r.waitFor(v, h, p, now)
	}
}

// visitAlone judges a request while the store does not answer.
func (r *Room) visitAlone(v *view, h holder, p place, now time.Time) Verdict {
	switch act, refusal := v.decideAlone(h.Token, p, now); act {
	case actAdmit:
		return r.pass(v, h.Token, now)
	case actRefuse:
		return r.refuse(v, h, p, refusal, now)
	default:
		return r.waitFor(v, h, p, now)
	}
}

// observe takes over what any request with a token shows: its lease is in use, or its pass an old copy.
func (r *Room) observe(v *view, h holder, p place, now time.Time) {
	if p.standing == inside && !p.slot.Confirmed || p.standing == unlisted {
		r.marks.confirm(h.Ticket)
	}
	r.suspect(v, h, now)
	if p.standing == inside && h.Use == UsePass && r.sessions.show(h.Ticket, h.Generation, now) {
		r.observer.Shared()
	}
}

// renew lengthens the lease of somebody inside. A pass that has not run out is good without it, so of several requests
// at once only one asks.
func (r *Room) renew(v *view, h holder, p place, now time.Time) Verdict {
	valid := h.passes(now) && p.standing == inside
	if valid && !r.sessions.mayRenew(h.Ticket, now) {
		return r.pass(v, h.Token, now)
	}
	slot, err := r.lengthen(v, h, p, now)
	switch {
	case err != nil && h.passes(now):
		return r.pass(v, h.Token, now)
	case err != nil:
		return r.waitFor(v, h, p, now)
	case slot.Kind != Lease:
		return r.again(v, h, slot, now)
	}
	return r.admit(v, h.Token, slot, now)
}

// lengthen asks the store for a longer lease, or, while the line is being restored, for one that it does not know of.
func (r *Room) lengthen(v *view, h holder, p place, now time.Time) (Slot, error) {
	if p.standing == unlisted && now.Before(v.snap.Gives) {
		return r.link.vouch(h.proof())
	}
	return r.link.renew(h.Ticket, renewal(v.snap.Rules, p.slot, now))
}

// claim turns an offer into a lease.
func (r *Room) claim(v *view, h holder, p place, now time.Time) Verdict {
	slot, err := r.link.claim(h.Ticket)
	switch {
	case err != nil:
		return r.waitFor(v, h, p, now)
	case slot.Kind != Lease:
		return r.again(v, h, slot, now)
	}
	return r.admit(v, h.Token, slot, now)
}

// again answers somebody whose slot has gone between the view and the store: he waits, and comes first.
func (r *Room) again(v *view, h holder, slot Slot, now time.Time) Verdict {
	if slot.Kind == Leaving {
		return r.refuse(v, h, place{standing: ended}, RefusedNoTicket, now)
	}
	return r.waitFor(v, h, place{standing: waiting}, now)
}

// enroll gets a ticket for somebody who has none.
func (r *Room) enroll(ctx context.Context, v *view, h holder, now time.Time) Verdict {
	got, ok := r.joiner.ask(ctx)
	now = later(now, r.clock.now())
	switch {
	case !ok:
		return r.unavailable(v)
	case errors.Is(got.err, ErrFull):
		return r.refuse(v, h, place{standing: ended}, RefusedFull, now)
	case got.err != nil:
		return r.unavailable(v)
	case got.refusal != NotRefused:
		return r.refuse(v, h, place{standing: ended}, got.refusal, now)
	}
	return r.welcome(v, h, got, now)
}
