package admission

import (
	"context"
	"fmt"
	"time"
)

// Status answers a poll, from the view alone: it never asks the store, and never joins.
func (r *Room) Status(_ context.Context, tokens []string) Verdict {
	v, now := r.view.Load(), r.clock.now()
	if v == nil {
		return r.unavailable(v)
	}
	return r.status(v, r.holder(tokens, now), now)
}

// status tells the holder of a token where it stands.
func (r *Room) status(v *view, h holder, now time.Time) Verdict {
	if !h.fresh {
		return r.refuse(v, h, place{standing: ended}, RefusedNoTicket, now)
	}
	if v.snap.Rules.Mode == ModeOff {
		return r.pass(v, h.Token, now)
	}
	p := r.place(v, h, now)
	r.observe(v, h, p, now)
	switch {
	case p.standing == ended:
		return r.over(v, h, now)
	case h.passes(now) && p.standing != offered:
		return r.pass(v, h.Token, now)
	case p.standing == inside && r.link.health() == storeUp && v.within(p.slot, now).After(now):
		verdict := r.pass(v, h.Token, now) // the next request gets him his pass
		verdict.Status.SessionExpires = v.within(p.slot, now)
		return verdict
	default:
		return r.waitFor(v, h, p, now)
	}
}

// over is the status of a ticket whose life is over.
func (r *Room) over(v *view, h holder, now time.Time) Verdict {
	return Verdict{Outcome: Wait, Visitor: h.Visitor, Ticket: h.Ticket, Status: Status{
		Gate: r.gate, State: StateEnded, Ticket: h.Ticket, Waiting: v.waiting(), AsOf: now, PollAfter: v.snap.Rules.PollMax,
	}}
}

// Join gives whoever has no ticket one; created says so. Who has one is told its place.
func (r *Room) Join(ctx context.Context, tokens []string) (verdict Verdict, created bool) {
	v, now := r.view.Load(), r.clock.now()
	if verdict, aside := r.aside(v); aside {
		return verdict, false
	}
	h := r.holder(tokens, now)
	p := r.place(v, h, now)
	switch {
	case p.standing != ended:
		return r.status(v, h, now), false
	case r.link.health() != storeUp:
		return r.unavailable(v), false
	}
	if act, refusal := v.decide(h.Token, p, true, r.soldOut(v), now); act == actRefuse {
		return r.refuse(v, h, p, refusal, now), false
	}
	verdict = r.enroll(ctx, v, h, now)
	return verdict, verdict.Outcome != Refuse
}

// Claim turns an offer into a pass, and gives somebody inside a new one. Another replica may have shown an offer a moment
// ago that this one has not heard of, so that whoever may have one is answered after the next tick.
func (r *Room) Claim(ctx context.Context, tokens []string) Verdict {
	v, now := r.view.Load(), r.clock.now()
	if verdict, aside := r.aside(v); aside {
		return verdict
	}
	h := r.holder(tokens, now)
	if !h.fresh {
		return r.refuse(v, h, place{standing: ended}, RefusedNoTicket, now)
	}
	verdict := r.claimAs(v, h, now)
	if s := verdict.Status; s.State == StateWaiting && s.Position <= v.snap.Rules.Capacity && r.link.health() == storeUp {
		r.Settled(ctx)
		verdict = r.claimAs(r.view.Load(), h, r.clock.now())
	}
	if verdict.Outcome == Wait {
		verdict.Outcome, verdict.Refusal = Refuse, RefusedNotOffered
		if r.link.health() != storeUp {
			verdict.Refusal = RefusedStore
		}
	}
	return verdict
}

// claimAs claims for a holder; whoever has nothing to claim is told its place.
func (r *Room) claimAs(v *view, h holder, now time.Time) Verdict {
	p := r.place(v, h, now)
	r.observe(v, h, p, now)
	switch p.standing {
	case ended:
		return r.over(v, h, now)
	case offered:
		return r.claim(v, h, p, now)
	case inside, unlisted:
		return r.renew(v, h, p, now)
	default:
		return r.waitFor(v, h, p, now)
	}
}

// Leave ends the ticket of a visitor who gives it up. The token goes on saying who it is.
func (r *Room) Leave(ctx context.Context, tokens []string) Verdict {
	v, now := r.view.Load(), r.clock.now()
	if v == nil {
		return r.unavailable(v)
	}
	h := r.holder(tokens, now)
	if !h.fresh {
		return r.refuse(v, h, place{standing: ended}, RefusedNoTicket, now)
	}
	if r.place(v, h, now).standing != ended {
		_ = r.Release(ctx, h.Ticket) // where the store does not answer, it is told later
	}
	return r.over(v, h, now)
}

// Identify says who sends a request, by any token with a good signature, whatever its age or round. The verdict is
// Admit for somebody whose pass is good, else Wait. It never asks the store.
func (r *Room) Identify(tokens []string) (Verdict, bool) {
	v, now := r.view.Load(), r.clock.now()
	h := r.holder(tokens, now)
	if !h.known {
		return Verdict{Outcome: Wait, Status: Status{Gate: r.gate, State: StateWaiting}}, false
	}
	verdict := Verdict{Outcome: Wait, Visitor: h.Visitor, Ticket: h.Ticket, Status: Status{Gate: r.gate, State: StateWaiting}}
	if v == nil {
		return verdict, true
	}
	p := r.place(v, h, now)
	r.observe(v, h, p, now)
	if h.passes(now) && p.standing != ended {
		return r.pass(v, h.Token, now), true
	}
	return verdict, true
}

// Note takes over that a visitor has shown its token with a request that is not judged.
func (r *Room) Note(tokens []string) {
	v, now := r.view.Load(), r.clock.now()
	if v == nil || len(tokens) == 0 {
		return
	}
	if h := r.holder(tokens, now); h.fresh {
		r.observe(v, h, r.place(v, h, now), now)
	}
}

// Enter counts a request in flight of a ticket with a lease, which the store keeps while the request runs. With too
// many already it waits for one of them, up to five seconds; then, or when the context ends, ok is false.
func (r *Room) Enter(ctx context.Context, t Ticket) (leave func(), ok bool) {
	if t == 0 {
		return func() {}, true
	}
	return r.sessions.enter(ctx, t, r.clock.now())
}

// Over is closed when the lease of a ticket ends while a request of it is in flight: an open stream ends with it. It is
// to be asked for between Enter and leave; nil, which is never closed, for anybody else.
func (r *Room) Over(t Ticket) <-chan struct{} { return r.sessions.over(t) }

// Extend lengthens the lease of a ticket to so long from now, within what the rules allow. The verdict says until when
// it is; Refuse where the ticket has no lease.
func (r *Room) Extend(_ context.Context, t Ticket, by time.Duration) (Verdict, error) {
	v, now := r.view.Load(), r.clock.now()
	if v == nil || t == 0 {
		return r.unavailable(v), nil
	}
	slot, err := r.link.renew(t, now.Add(by))
	if err != nil {
		return r.unavailable(v), fmt.Errorf("extend lease: %w", err)
	}
	if slot.Kind != Lease {
		return r.refuse(v, holder{}, place{standing: ended}, RefusedNoTicket, now), nil
	}
	return Verdict{Outcome: Admit, Ticket: t, Status: r.inside(v, t, slot.Expires.Add(-v.snap.Rules.Leeway), now)}, nil
}
