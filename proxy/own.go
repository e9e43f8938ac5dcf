package proxy

import (
	"context"
	"net/http"
	"strings"

	"foyer/admission"
)

// ownPrefix is where the edge's own endpoints live, on every host.
const ownPrefix = "/_foyer"

// endpoint is one of a gate's own endpoints.
type endpoint struct {
	method string
	serve  func(*exchange)
}

// endpoints are a gate's own endpoints by the last part of their path.
var endpoints = map[string]endpoint{
	"status": {http.MethodGet, (*exchange).serveStatus},
	"join":   {http.MethodPost, (*exchange).serveJoin},
	"claim":  {http.MethodPost, (*exchange).serveClaim},
	"leave":  {http.MethodPost, (*exchange).serveLeave},
	"draw":   {http.MethodGet, (*exchange).serveDraw},
}

// sameOrigin refuses what another site's page has the visitor's browser send.
var sameOrigin = http.NewCrossOriginProtection()

// serveOwn answers the edge's own endpoints.
func serveOwn(next handler) handler {
	return func(x *exchange) {
		rest, ours := strings.CutPrefix(x.path.Decoded, ownPrefix)
		if !ours || rest != "" && rest[0] != '/' {
			next(x)
			return
		}
		x.plain = true
		switch rest {
		case "/health":
			x.label = "health"
			x.only(http.MethodGet, func() { respondText(x.w, "ok\n") })
		case "/jwks.json":
			x.label = "jwks"
			x.only(http.MethodGet, func() { x.table.jwks.ServeHTTP(x.w, x.r) })
		default:
			x.serveEndpoint(rest)
		}
	}
}

// serveEndpoint answers /_foyer/{gate}/{verb}.
func (x *exchange) serveEndpoint(rest string) {
	name, verb, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	e, known := endpoints[verb]
	x.gate = x.table.byName[name]
	if !known || x.gate == nil {
		x.label = "no-gate"
		x.gate = nil
		x.refuse(x.w, kindNotFound, "no such gate or endpoint")
		return
	}
	x.label = verb
	x.only(e.method, func() {
		if err := sameOrigin.Check(x.r); err != nil {
			x.refuse(x.w, kindCrossOrigin, "")
			return
		}
		x.findTokens()
		e.serve(x)
	})
}

// only serves one method (and HEAD with GET), and refuses all others.
func (x *exchange) only(method string, serve func()) {
	if x.r.Method == method || method == http.MethodGet && x.r.Method == http.MethodHead {
		serve()
		return
	}
	allow := method
	if method == http.MethodGet {
		allow = "GET, HEAD"
	}
	x.w.Header().Set("Allow", allow)
	x.refuse(x.w, kindMethod, "")
}

// serveStatus answers a poll.
func (x *exchange) serveStatus() {
	v := x.gate.Room.Status(x.r.Context(), x.tokens)
	x.judged(v)
	if v.Refusal == admission.RefusedNoTicket || v.Status.State == "" {
		x.wait(x.w)
		return
	}
	x.respondStatus(http.StatusOK)
}

// serveJoin gives a place in line without a page.
func (x *exchange) serveJoin() {
	if !x.mayJoin() {
		x.label = kindRateLimited.name
		x.refuse(x.w, kindRateLimited, "too many new visitors from this network; try again in a minute")
		return
	}
	v, created := x.gate.Room.Join(x.r.Context(), x.tokens)
	x.judged(v)
	switch {
	case v.Outcome == admission.Refuse:
		x.wait(x.w)
	case created:
		x.respondStatus(http.StatusCreated)
	default:
		x.respondStatus(http.StatusOK)
	}
}

// serveClaim turns an offer into a pass.
func (x *exchange) serveClaim() {
	v := x.gate.Room.Claim(x.r.Context(), x.tokens)
	if v.Outcome == admission.Wait {
		v.Outcome, v.Refusal = admission.Refuse, admission.RefusedNotOffered
	}
	x.judged(v)
	if v.Outcome == admission.Refuse {
		x.wait(x.w)
		return
	}
	x.respondStatus(http.StatusOK)
}

// serveLeave gives up the place or the slot.
func (x *exchange) serveLeave() {
	v := x.gate.Room.Leave(context.WithoutCancel(x.r.Context()), x.tokens)
	x.judged(v)
	if v.Refusal == admission.RefusedStore {
		x.wait(x.w)
		return
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.w.WriteHeader(http.StatusNoContent)
}

// serveDraw answers where a gate has no draw.
func (x *exchange) serveDraw() { x.refuse(x.w, kindNotFound, "this gate has no draw") }

// respondStatus answers with the status object of the verdict.
func (x *exchange) respondStatus(code int) {
	s := x.verdict.Status
	x.w.Header().Set("Retry-After", ceilSeconds(s.PollAfter))
	respondJSON(x.w, code, newStatus(x.gate.Name, s))
}

// respondText answers with a line of text.
func respondText(w http.ResponseWriter, text string) {
	w.Header().Set("Cache-Control", "no-store")
	send(w, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}
