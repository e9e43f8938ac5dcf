package proxy

import (
	"net/http"

	"foyer/admission"
)

// kind is one sort of answer that the edge gives itself: a problem type, its status and its title.
type kind struct {
	name   string
	status int
	title  string
}

// The kinds of answers. This is the only place where one is mapped to a status.
var (
	kindWaiting     = kind{"waiting", http.StatusTooManyRequests, "Waiting for a slot"}
	kindLobby       = kind{"lobby", http.StatusTooManyRequests, "Not open yet"}
	kindPaused      = kind{"paused", http.StatusTooManyRequests, "Paused"}
	kindRateLimited = kind{"rate-limited", http.StatusTooManyRequests, "Too many arrivals from this network"}
	kindBusy        = kind{"rate-limited", http.StatusServiceUnavailable, "Too many requests at once"}
	kindNoTicket    = kind{"no-ticket", http.StatusUnauthorized, "No valid token"}
	kindNotOffered  = kind{"not-offered", http.StatusConflict, "No slot has been offered"}
	kindFull        = kind{"full", http.StatusServiceUnavailable, "The line is full"}
	kindClosed      = kind{"closed", http.StatusForbidden, "Closed"}
	kindSoldOut     = kind{"sold-out", http.StatusGone, "Sold out"}
	kindStore       = kind{"store-unavailable", http.StatusServiceUnavailable, "The waiting room is out of reach"}

	kindBadRequest     = kind{"bad-request", http.StatusBadRequest, "The request is ambiguous or malformed"}
	kindCrossOrigin    = kind{"cross-origin", http.StatusForbidden, "Cross-origin requests are refused"}
	kindNotFound       = kind{"not-found", http.StatusNotFound, "Not found"}
	kindMethod         = kind{"method-not-allowed", http.StatusMethodNotAllowed, "Method not allowed"}
	kindNotImplemented = kind{"not-implemented", http.StatusNotImplemented, "Method not implemented"}
	kindTooLarge       = kind{"too-large", http.StatusRequestEntityTooLarge, "The body is too large"}
	kindTimeout        = kind{"request-timeout", http.StatusRequestTimeout, "The request came too slowly"}
	kindInternal       = kind{"internal", http.StatusInternalServerError, "Internal error"}
	kindBadGateway     = kind{"bad-gateway", http.StatusBadGateway, "The shop could not be reached"}
	kindGatewayTimeout = kind{"gateway-timeout", http.StatusGatewayTimeout, "The shop did not answer in time"}
)

// refusals are the kinds of an outcome other than Admit, by what the room says.
var refusals = map[admission.Refusal]kind{
	admission.RefusedFull: kindFull, admission.RefusedClosed: kindClosed, admission.RefusedSoldOut: kindSoldOut,
	admission.RefusedNoTicket: kindNoTicket, admission.RefusedNotOffered: kindNotOffered,
	admission.RefusedStore: kindStore, admission.RefusedBusy: kindBusy,
}

// waits are the kinds of a Wait that is not simply waiting, by state.
var waits = map[admission.State]kind{
	admission.StateLobby: kindLobby, admission.StatePaused: kindPaused, admission.StateClosed: kindClosed,
	admission.StateFull: kindFull, admission.StateSoldOut: kindSoldOut,
}

// kindOf is the kind of answer to a verdict that does not admit.
func kindOf(v admission.Verdict) kind {
	if k, ok := refusals[v.Refusal]; ok {
		return k
	}
	if k, ok := waits[v.Status.State]; ok {
		return k
	}
	return kindWaiting
}

// waiting reports whether an answer of this kind is given to somebody in line, for whom it will change by itself.
func (k kind) waiting() bool { return k == kindWaiting || k == kindLobby || k == kindPaused }

// upstream reports whether the request may have reached the upstream before this answer was given.
func (k kind) upstream() bool {
	return k == kindBadGateway || k == kindGatewayTimeout || k == kindTooLarge || k == kindTimeout || k == kindInternal
}

// problem is the body of an answer that is not a page; RFC 9457.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Queue  *status `json:"queue,omitempty"`
}

// newProblem is the body for a kind; queue may be nil.
func newProblem(k kind, detail string, queue *status) problem {
	return problem{Type: "urn:foyer:" + k.name, Title: k.title, Status: k.status, Detail: detail, Queue: queue}
}
