package loadtest

import (
	"net/http"
	"strconv"
	"time"
)

// What a Storefront tells about a request, in the header of its answer.
const (
	tellsVisitor = "Loadtest-Visitor"
	tellsTicket  = "Loadtest-Ticket"
	tellsTime    = "Loadtest-Time" // Unix nanoseconds
)

// Storefront is an upstream for a load test: it answers every request with a few bytes, tells the client what the gate
// said about it, and its meter counts who is inside.
type Storefront struct {
	Meter *Meter
}

var _ http.Handler = Storefront{}

// NewStorefront makes one for a gate that takes a slot back after so long a silence.
func NewStorefront(idle time.Duration) Storefront {
	return Storefront{Meter: &Meter{Silence: idle, Who: func(r *http.Request) string { return r.Header.Get("X-Foyer-Visitor") }}}
}

// ServeHTTP answers and counts.
func (s Storefront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Meter.Wrap(http.HandlerFunc(tell)).ServeHTTP(w, r)
}

func tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(tellsVisitor, r.Header.Get("X-Foyer-Visitor"))
	w.Header().Set(tellsTicket, r.Header.Get("X-Foyer-Ticket"))
	w.Header().Set(tellsTime, strconv.FormatInt(time.Now().UnixNano(), 10))
	_, _ = w.Write([]byte("you are inside\n"))
}
