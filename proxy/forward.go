package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"go.uber.org/zap"

	"foyer/proxy/assertion"
)

// errBadSwitch: an upstream has switched to a protocol that nobody asked for.
var errBadSwitch = errors.New("the upstream switched to another protocol than was asked for")

// forward is the last step: it hands the exchange to the gate's upstream.
func forward(x *exchange) {
	ctx, stop := x.guard()
	defer stop()
	x.w.stall = x.table.writeTimeout
	if x.w.stall > 0 { // the upstream's time-out bounds the wait, and each write has its own deadline from here on
		_ = http.NewResponseController(x.w.ResponseWriter).SetWriteDeadline(time.Time{})
	}
	x.hearOut()
	start := time.Now()
	defer func() { x.table.metrics.upstream(x.gate.Name, time.Since(start)) }()
	x.gate.upstream.ServeHTTP(x.w, x.r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
}

// remote is an upstream that is reached by HTTP.
type remote struct {
	settings  Upstream
	transport *http.Transport
	calls     *http.Transport // for gRPC, which is HTTP/2 whether or not the upstream has TLS
	proxy     httputil.ReverseProxy
}

// newRemote builds a proxy with connections of its own.
func newRemote(u Upstream, logger *zap.Logger) *remote {
	r := &remote{settings: u, transport: newTransport(u), calls: newTransport(u)}
	r.calls.Protocols = new(http.Protocols)
	r.calls.Protocols.SetHTTP2(true)
	r.calls.Protocols.SetUnencryptedHTTP2(true)
	r.proxy = httputil.ReverseProxy{
		Rewrite:        r.rewrite,
		Transport:      roundTripper(r.send),
		ModifyResponse: accept,
		ErrorHandler:   fail,
		BufferPool:     buffers,
		ErrorLog:       redacted(logger),
	}
	return r
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// send sends a request over the connections of its kind. What is sent twice is left to net/http, which repeats a request
// only on a connection that was kept open, and only if the upstream has not seen any of it, or if it has no body and is
// safe to repeat by its method or its Idempotency-Key.
func (r *remote) send(req *http.Request) (*http.Response, error) {
	if isCall(req.Header) {
		return r.calls.RoundTrip(req)
	}
	return r.transport.RoundTrip(req)
}

// close gives up the connections that are idle. Requests in flight finish.
func (r *remote) close() {
	r.transport.CloseIdleConnections()
	r.calls.CloseIdleConnections()
}

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.proxy.ServeHTTP(w, req) }

// rewrite addresses a request to the upstream: the canonical path under the upstream's own, and the headers that only
// we may set. It runs after the headers named by Connection have been removed, so none of ours can be.
func (r *remote) rewrite(pr *httputil.ProxyRequest) {
	x := exchangeOf(pr.In.Context())
	out := pr.Out
	base := strings.TrimSuffix(r.settings.URL.EscapedPath(), "/")
	x.canonical(out.URL)
	if base != "" {
		out.URL.Path = strings.TrimSuffix(r.settings.URL.Path, "/") + x.path.Decoded
		out.URL.RawPath = base + x.path.Escaped
	}
	out.URL.Scheme, out.URL.Host = r.settings.URL.Scheme, r.settings.URL.Host
	out.URL.RawQuery = pr.In.URL.RawQuery // as it came: gates are not matched on it
	out.Host = ""
	if r.settings.PreserveHost {
		out.Host = x.host.String()
	}
	// The values of a client's trailers come after the body and go nowhere, so their names must not be announced.
	out.Trailer = nil
	x.introduce(out.Header)
	x.assert(out)
	if x.body != nil && r.settings.Timeout > 0 {
		x.watchUpload(r.settings.Timeout)
	}
}

// introduce sets what an upstream may know of the visitor, and takes away what it may not.
func (x *exchange) introduce(h http.Header) {
	x.table.hideTokens(h)
	h.Set("X-Forwarded-For", x.client.chain())
	h.Set("X-Forwarded-Host", x.host.String())
	h.Set("X-Forwarded-Proto", "http")
	if x.client.secure {
		h.Set("X-Forwarded-Proto", "https")
	}
	h.Set("X-Foyer-Gate", x.gate.Name)
	h.Del("X-Foyer-Visitor")
	h.Del("X-Foyer-Ticket")
	if visitor := x.visitor(); visitor != "" {
		h.Set("X-Foyer-Visitor", visitor)
	}
	if x.verdict.Ticket != 0 {
		h.Set("X-Foyer-Ticket", fmt.Sprint(x.verdict.Ticket))
	}
}

// assert signs what introduce says, for this one request.
func (x *exchange) assert(out *http.Request) {
	if x.gate.signer == nil {
		return
	}
	via := assertion.ViaOpen
	switch {
	case x.label == "bypass":
		via = assertion.ViaBypass
	case holdsSlot(x.verdict):
		via = assertion.ViaPass
	}
	signed, err := x.gate.signer.Sign(assertion.Claims{
		Gate: x.gate.Name, Visitor: x.verdict.Visitor, Ticket: uint64(x.verdict.Ticket), Via: via,
	}, out.Method, out.URL.RequestURI())
	if err != nil {
		x.table.logger.Error("request not signed for its upstream", zap.String("gate", x.gate.Name), zap.Error(err))
		return
	}
	out.Header.Set(assertion.Header, signed)
}

// accept looks at the head of an upstream's answer before it is passed on.
func accept(res *http.Response) error {
	x := exchangeOf(res.Request.Context())
	x.stopUpload()
	x.stream.Store(strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"))
	stripCommands(res.Trailer)
	if res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &commandless{res.Body, res}
		return nil
	}
	if !strings.EqualFold(res.Header.Get("Upgrade"), res.Request.Header.Get("Upgrade")) {
		return errBadSwitch
	}
	// This answer is not written through the ResponseWriter, so it is settled here.
	x.stream.Store(true)
	x.w.status = res.StatusCode
	x.settle(res.Header)
	return nil
}

// fail answers for an upstream that did not. The visitor keeps the slot.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	x.stopUpload()
	if x.w.status != 0 {
		return
	}
	k := x.diagnose(context.Cause(r.Context()), err)
	x.fault = err.Error()
	x.refuse(w, k, "")
}

// diagnose is the kind of answer to an exchange that could not be forwarded.
func (x *exchange) diagnose(cause, err error) kind {
	if k, ok := x.body.fault(); ok {
		x.gone = k == kindBadRequest
		return k
	}
	var slow net.Error
	switch {
	case errors.Is(cause, errStalled) || errors.Is(cause, errLeaseEnded):
		return kindGatewayTimeout
	case cause != nil:
		x.gone = true
		return kindBadGateway
	case errors.As(err, &slow) && slow.Timeout():
		return kindGatewayTimeout
	default:
		return kindBadGateway
	}
}
