package proxy

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// leastRate is how many bytes a second a body must bring once its first patience is over, so that one that trickles
// is cut off however steadily it does.
const leastRate = 16 << 10

// body is a request's body with a limit on its size and on its patience.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	start   time.Time
	patient time.Duration // how long the first bytes may take; 0: no limit
	read    int64
	err     error // what ended it, but for io.EOF

	before, behind func() // called around each read; nil: nothing
}

// limitBody refuses a body that says it is too large, or says so unclearly, and watches over all others.
func limitBody(next handler) handler {
	return func(x *exchange) {
		r, t := x.r, x.table
		if !clearLength(r.Header["Content-Length"]) {
			x.label = kindBadRequest.name
			x.refuse(x.w, kindBadRequest, "ambiguous length")
			return
		}
		if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
			next(x)
			return
		}
		b := &body{
			ReadCloser: r.Body, start: time.Now(), patient: t.readTimeout,
			control: http.NewResponseController(x.w.ResponseWriter),
		}
		b.extend()
		if t.bodyBytes > 0 && r.ContentLength > t.bodyBytes {
			x.label = kindTooLarge.name
			x.w.Header().Set("Connection", "close")
			x.refuse(x.w, kindTooLarge, "")
			return
		}
		if t.bodyBytes > 0 {
			b.ReadCloser = http.MaxBytesReader(x.w.ResponseWriter, r.Body, t.bodyBytes)
		}
		x.body, r.Body = b, b
		next(x)
	}
}

// clearLength reports whether a length is told once at most, and in digits. In HTTP/1 a connection that says otherwise has
// ended before (see framing). In HTTP/2 net/http makes one of several that are the same and refuses several that differ,
// but takes what is no number for 0.
func clearLength(lengths []string) bool {
	if len(lengths) == 0 {
		return true
	}
	_, err := strconv.ParseUint(lengths[0], 10, 63)
	return len(lengths) == 1 && err == nil
}

// Read reads, within the time that is left. At the end the connection is free of the deadline, which would otherwise
// end the request while it is answered.
func (b *body) Read(p []byte) (int, error) {
	if b.before != nil {
		b.before()
		defer b.behind()
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case err == nil:
		b.extend()
	case errors.Is(err, io.EOF):
		if b.patient > 0 {
			_ = b.control.SetReadDeadline(time.Time{})
		}
	default:
		b.err = err
	}
	return n, err
}

// extend gives the body the time that what it has brought so far is worth.
func (b *body) extend() {
	if b.patient > 0 {
		earned := time.Duration(b.read) * time.Second / leastRate
		_ = b.control.SetReadDeadline(b.start.Add(b.patient + earned))
	}
}

// fault is the kind of answer to a body that failed; ok is false if it did not.
func (b *body) fault() (k kind, ok bool) {
	var tooLarge *http.MaxBytesError
	switch {
	case b == nil || b.err == nil:
		return kind{}, false
	case errors.As(b.err, &tooLarge):
		return kindTooLarge, true
	case errors.Is(b.err, os.ErrDeadlineExceeded):
		return kindTimeout, true
	default:
		return kindBadRequest, true
	}
}
