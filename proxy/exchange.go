package proxy

import (
	"context"
	"net/http"
	"sync/atomic"

	"foyer/admission"
)

// exchange is one request on its way through the steps, and what they have found out about it.
type exchange struct {
	w *answer
	r *http.Request

	table  *table
	client client
	host   Host
	path   Path
	gate   *gate
	plain  bool // problems, never pages: an endpoint of our own, or nobody looks
	body   *body
	up     *upload
	stall  context.CancelCauseFunc // ends the exchange while it is forwarded

	tokens   []string // candidates, in the order of arrival
	byHeader bool     // the token came, and goes back, in a header and not as a cookie
	both     bool     // it goes back in both: the client is an app that has none yet

	verdict admission.Verdict // the last one given
	label   string            // how the gate dealt with the request, for the log and the metrics
	said    plea              // what it was answered instead of the upstream's answer
	bypass  int               // which rule of the gate let it through, from 1
	fault   string            // what went wrong upstream, for the log
	gone    bool              // the client has hung up before it was answered
	stream  atomic.Bool       // the answer is open-ended, and so ends with the lease
	closing <-chan struct{}   // closed when the server is about to stop

	grant grant    // a token to hand out with the answer
	after []func() // what is to be done when the answer has been sent
}

// exchangeKey is where an exchange travels in the context of what is forwarded.
type exchangeKey struct{}

// exchangeOf is the exchange that a forwarded request belongs to.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// judged takes over a verdict: from now on it is the exchange's, and its token goes out with the answer.
func (x *exchange) judged(v admission.Verdict) {
	x.verdict = v
	if v.Token != "" {
		x.grant = grant{token: v.Token, until: v.Until}
	}
	if v.Clear {
		x.grant = grant{drop: true}
	}
}

// settle brings a final header in order before it is sent: commands of an upstream are obeyed and stripped, a token
// is handed out.
func (x *exchange) settle(h http.Header) {
	if x.gate == nil {
		stripCommands(h)
		return
	}
	x.obey(h)
	x.handOut(h)
}
