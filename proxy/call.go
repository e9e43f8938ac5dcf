package proxy

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// isCall reports whether a request is one of gRPC. Such a call may be a stream in both directions, which is silent for as
// long as both sides like.
func isCall(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/grpc")
}

// hearOut gives the body of a call all the time that its slot has: it need not make progress. Only for whoever is inside,
// whose slot ends it.
func (x *exchange) hearOut() {
	if x.body == nil || !holdsSlot(x.verdict) || !isCall(x.r.Header) {
		return
	}
	x.body.patient = 0
	_ = x.body.control.SetReadDeadline(time.Time{})
}

// commandless is the body of an upstream's answer. Trailers that were not announced are there when it has been read: those
// that only an answer's head may carry are taken away.
type commandless struct {
	io.ReadCloser
	answer *http.Response
}

func (c *commandless) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil {
		stripCommands(c.answer.Trailer)
	}
	return n, err
}
