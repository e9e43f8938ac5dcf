package proxy

import (
	"context"
	"net/http"

	"foyer/admission"
)

// Visit is what an upstream in the process gets to know of the visitor; a remote one reads it from X-Foyer-* headers.
type Visit struct {
	Gate     string
	Visitor  string // "" where nobody is known
	Ticket   admission.Ticket
	Admitted bool // the visitor has a slot, or needs none

	// NeedSlot asks for a slot in the middle of a request that was let through without one. True: the visitor is
	// admitted now, and the visit is as it stands now: it may be of somebody who was not known before. False: the waiting
	// answer has been written to w, and nothing more may be. It must not be called after w has been written to.
	NeedSlot func(w http.ResponseWriter, r *http.Request) (Visit, bool)

	// Release gives up the visitor's slot, whenever it is called: an answer that is known too late for Foyer-Command.
	// nil where there is no slot.
	Release func(ctx context.Context) error
}

// visitKey is where a visit travels in a context.
type visitKey struct{}

// WithVisit is a context that carries a visit.
func WithVisit(ctx context.Context, v Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitFrom is the visit that a context carries.
func VisitFrom(ctx context.Context) (Visit, bool) {
	v, ok := ctx.Value(visitKey{}).(Visit)
	return v, ok
}

// inProcess is an upstream in the process. It gets what a remote one would, and the visit besides.
type inProcess struct{ handler http.Handler }

func (u *inProcess) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	out := r.Clone(WithVisit(r.Context(), x.visit()))
	x.canonical(out.URL)
	out.RequestURI = out.URL.RequestURI()
	out.Host = x.host.String()
	x.introduce(out.Header)
	u.handler.ServeHTTP(w, out)
}

// visit is what is known of the visitor by now.
func (x *exchange) visit() Visit {
	v := Visit{
		Gate: x.gate.Name, Visitor: x.visitor(), Ticket: x.verdict.Ticket,
		Admitted: x.label == "bypass" || x.verdict.Outcome == admission.Admit,
		NeedSlot: x.needSlot,
	}
	if holdsSlot(x.verdict) {
		room, ticket := x.gate.Room, x.verdict.Ticket
		v.Release = func(ctx context.Context) error { return room.Release(ctx, ticket) }
	}
	return v
}

// visitor is who asks: by the verdict; by a token, where the gate lets everybody through without looking at it; or, at
// such a gate, by the word of a trusted proxy, whose own gate may stand before this one. "" where nobody is known.
func (x *exchange) visitor() string {
	if x.verdict.Visitor != "" {
		return x.verdict.Visitor
	}
	if len(x.tokens) > 0 {
		if v, known := x.gate.Room.Identify(x.tokens); known {
			return v.Visitor
		}
	}
	if x.client.visitor != "" {
		if v := x.gate.Room.Visit(x.r.Context(), nil, false); v.Outcome == admission.Admit && v.Ticket == 0 {
			return x.client.visitor
		}
	}
	return ""
}

// needSlot judges the exchange once more, joining the line if need be.
func (x *exchange) needSlot(w http.ResponseWriter, _ *http.Request) (Visit, bool) {
	ok := x.label == "bypass" || x.verdict.Outcome == admission.Admit || x.getSlot(w)
	return x.visit(), ok
}

// getSlot is true where the visitor has a slot now; else the answer has been written.
func (x *exchange) getSlot(w http.ResponseWriter) bool {
	if !x.mayJoin() {
		x.refuse(w, kindRateLimited, "too many new visitors from this network; try again in a minute")
		return false
	}
	v := x.gate.Room.Visit(x.r.Context(), x.tokens, true)
	x.judged(v)
	if v.Outcome != admission.Admit {
		x.wait(w)
		return false
	}
	x.label = "admit"
	if !holdsSlot(v) {
		return true
	}
	leave, ok := x.gate.Room.Enter(x.r.Context(), v.Ticket)
	if !ok {
		x.refuse(w, kindBusy, "too many requests at once on one pass")
		return false
	}
	x.after = append(x.after, leave)
	return true
}
