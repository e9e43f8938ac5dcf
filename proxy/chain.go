package proxy

import (
	"net/http"
	"net/url"

	"foyer/admission"
)

// handler deals with an exchange, to the end.
type handler func(*exchange)

// step either answers an exchange or hands it on.
type step func(next handler) handler

// steps are everything that happens to a request, in the order of execution. After the last the exchange is forwarded.
func (e *Edge) steps() []step {
	return []step{
		e.record,     // one log line and the metrics, whatever happens below
		allowMethod,  // 405 or 501
		traceClient,  // who is it, through trusted proxies
		cleanHeaders, // nothing that an upstream could read in another way
		locate,       // the canonical host and path, once
		limitBody,    // 413, and no trickling
		serveOwn,     // /_foyer/
		serveAlways,  // endpoints that no gate guards
		matchGate,    // 404
		readTokens,   // by cookie or header
		applyBypass,  // not counted
		passUngated,  // the embedded shop decides whether it needs a slot
		holdBack,     // prefetches and preflights neither join nor claim
		limitJoins,   // newcomers of one network
		admit,        // the room's verdict
	}
}

// chain composes the steps around the last handler.
func chain(steps []step, last handler) handler {
	for i := len(steps) - 1; i >= 0; i-- {
		last = steps[i](last)
	}
	return last
}

// allowMethod refuses methods that no upstream ever gets to see.
func allowMethod(next handler) handler {
	return func(x *exchange) {
		switch {
		case allowed[x.r.Method]:
			next(x)
		case x.r.Method == http.MethodConnect || x.r.Method == http.MethodTrace:
			x.label = kindMethod.name
			x.w.Header().Set("Allow", allowHeader)
			x.w.Header().Set("Connection", "close")
			x.refuse(x.w, kindMethod, "")
		default:
			x.label = kindNotImplemented.name
			x.w.Header().Set("Connection", "close")
			x.refuse(x.w, kindNotImplemented, "")
		}
	}
}

// traceClient finds out who sends, before the headers that tell are taken away.
func traceClient(next handler) handler {
	return func(x *exchange) {
		x.client = trace(x.r, x.table.trusted)
		next(x)
	}
}

// cleanHeaders takes away what an upstream may read in another way than we do.
func cleanHeaders(next handler) handler {
	return func(x *exchange) {
		clean(x.r.Header, x.client.trusted)
		next(x)
	}
}

// locate computes the canonical host and path that the gate is matched on and the upstream gets.
func locate(next handler) handler {
	return func(x *exchange) {
		if err := x.locate(); err != nil {
			x.label = kindBadRequest.name
			x.refuse(x.w, kindBadRequest, err.Error())
			return
		}
		next(x)
	}
}

// locate reads host and path. An absolute-form target has its scheme checked; its authority has replaced the Host
// header in net/http, as RFC 9112 section 3.2.2 has it.
func (x *exchange) locate() (err error) {
	u := x.r.URL
	if u.Opaque != "" || u.User != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return errAmbiguous
	}
	if x.host, err = canonicalHost(x.r.Host, x.client.secure); err != nil {
		return err
	}
	others := x.r.Header["Host"] // HTTP/2 leaves it beside :authority
	if len(others) > 1 || x.r.ProtoMajor > 1 && x.host.Name == "" {
		return errAmbiguous
	}
	for _, other := range others {
		if host, err := canonicalHost(other, x.client.secure); err != nil || host != x.host {
			return errAmbiguous
		}
	}
	x.r.Header.Del("Host")
	escaped := u.EscapedPath()
	if escaped == "" && u.Host != "" {
		escaped = "/"
	}
	x.path, err = canonicalPath(escaped)
	return err
}

// serveAlways serves the endpoints that no gate guards.
func serveAlways(next handler) handler {
	return func(x *exchange) {
		for _, r := range x.table.always {
			if r.Method == x.r.Method && r.pattern.Matches(x.path.Decoded) {
				x.label = "always"
				out := x.r.Clone(x.r.Context())
				x.canonical(out.URL)
				x.table.hideTokens(out.Header)
				r.Handler.ServeHTTP(x.w, out)
				return
			}
		}
		next(x)
	}
}

// canonical writes the path into a URL that is handed on.
func (x *exchange) canonical(u *url.URL) {
	u.Path, u.RawPath = x.path.Decoded, ""
	if u.EscapedPath() != x.path.Escaped { // net/url would escape more than the visitor did
		u.RawPath = x.path.Escaped
	}
}

// matchGate finds the gate that the exchange belongs to.
func matchGate(next handler) handler {
	return func(x *exchange) {
		if x.gate = x.table.match(x.host, x.path); x.gate == nil {
			x.gate = x.chooseAlso()
		}
		if x.gate == nil {
			x.label = "no-gate"
			x.refuse(x.w, kindNotFound, "no gate matches")
			return
		}
		next(x)
	}
}

// chooseAlso finds the gate of a path that several may have in common, such as a shop's /api/holds: the one that the
// visitor is inside of, or else whose token is shown, or else the first. It is nil where there is none.
func (x *exchange) chooseAlso() *gate {
	shared := x.table.matchAlso(x.host, x.path)
	if len(shared) == 0 {
		return nil
	}
	best := shared[0]
	for i, shown := len(shared)-1, false; i >= 0; i-- {
		x.gate = shared[i]
		x.findTokens()
		v, known := x.gate.Room.Identify(x.tokens)
		if inside := known && v.Outcome == admission.Admit; inside || known && !shown {
			best, shown = x.gate, inside
		}
	}
	return best
}

// applyBypass forwards what needs no slot. A token that is shown with it is taken notice of.
func applyBypass(next handler) handler {
	return func(x *exchange) {
		for i, rule := range x.gate.bypass {
			if rule.matches(x) {
				x.label, x.bypass = "bypass", i+1
				x.recognise()
				forward(x)
				return
			}
		}
		next(x)
	}
}

// recognise takes notice of the token of a request that is not judged, and tells the upstream whose it is.
func (x *exchange) recognise() {
	if len(x.tokens) == 0 {
		return
	}
	x.gate.Room.Note(x.tokens)
	if v, known := x.gate.Room.Identify(x.tokens); known {
		v.Outcome = admission.Wait // it is forwarded without a slot
		x.verdict = v
	}
}
