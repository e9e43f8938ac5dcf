package proxy

import (
	"net/http"
	"strings"
	"time"
)

// paceEvery is how often a write deadline is moved on.
const paceEvery = time.Second

// answer is the ResponseWriter of an exchange. It remembers what was sent, brings the header in order before it is
// sent, and gives every write its own deadline, so that a long answer may take its time and a stalled one may not.
type answer struct {
	http.ResponseWriter
	settle func(http.Header)
	stall  time.Duration // how long one write may take; 0: the server's own deadline holds
	paced  time.Time
	status int // 0: nothing was sent
	size   int64
}

func (a *answer) WriteHeader(status int) {
	switch {
	case a.status != 0:
		return
	case status < 200 && status != http.StatusSwitchingProtocols:
		stripCommands(a.Header())
	default:
		a.status = status
		a.settle(a.Header())
		a.pace()
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.pace()
	n, err := a.ResponseWriter.Write(b)
	a.size += int64(n)
	return n, err
}

// FlushError serves http.ResponseController.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	a.pace()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush serves handlers that ask for an http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// pace moves the write deadline on.
func (a *answer) pace() {
	if a.stall == 0 {
		return
	}
	if now := time.Now(); now.Sub(a.paced) >= min(paceEvery, a.stall/4) {
		a.paced = now
		_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(now.Add(a.stall))
	}
}

// stripCommands takes everything out of a header that only foyer itself may say.
func stripCommands(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "Foyer-") {
			delete(h, name)
		}
	}
}
