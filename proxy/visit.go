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
	// admitted now. False: the waiting answer has been written to w, and nothing more may be. It must not be called
	// after w has been written to.
	NeedSlot func(w http.ResponseWriter, r *http.Request) bool
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
	out := r.Clone(WithVisit(r.Context(), Visit{
		Gate: x.gate.Name, Visitor: x.verdict.Visitor, Ticket: x.verdict.Ticket,
		Admitted: x.label == "bypass" || x.verdict.Outcome == admission.Admit,
		NeedSlot: x.needSlot,
	}))
	x.canonical(out.URL)
	out.RequestURI = out.URL.RequestURI()
	out.Host = x.host.String()
	x.introduce(out.Header)
	u.handler.ServeHTTP(w, out)
}

// needSlot judges the exchange once more, joining the line if need be.
func (x *exchange) needSlot(w http.ResponseWriter, _ *http.Request) bool {
	if x.label == "bypass" || x.verdict.Outcome == admission.Admit {
		return true
	}
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
