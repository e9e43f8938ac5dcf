package loadtest

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// problemPrefix begins the type of every problem that foyer itself answers with.
const problemPrefix = "urn:foyer:"

// statusObject is what the edge says about a place in line.
type statusObject struct {
	State       string `json:"state"`
	Ticket      uint64 `json:"ticket"`
	Position    *int   `json:"position"`
	PollAfterMS int64  `json:"poll_after_ms"`
	AsOf        string `json:"as_of"`
	Reason      string `json:"reason"`
}

// problem is an answer in the form of RFC 9457.
type problem struct {
	Type   string        `json:"type"`
	Title  string        `json:"title"`
	Status int           `json:"status"`
	Queue  *statusObject `json:"queue"`
}

// gateProblems are the problem types of the gate that mean "not yet", with true, or "no", with false. A type that is
// not listed comes from behind the gate.
var gateProblems = map[string]bool{
	"waiting": true, "lobby": true, "paused": true, "rate-limited": true, "store-unavailable": true, "no-ticket": true,
	"not-offered": true, "full": false, "closed": false, "sold-out": false,
}

// place reads where a visitor stands from a status object.
func (s statusObject) place(code int) Place {
	place := Place{State: s.State, Ticket: s.Ticket, Code: code, Again: max(50*time.Millisecond, time.Duration(s.PollAfterMS)*time.Millisecond)}
	if s.Position != nil {
		place.Position = *s.Position
	}
	place.Reason = s.Reason
	place.AsOf, _ = time.Parse(time.RFC3339, s.AsOf) // zero where it is null
	switch s.State {
	case "closed", "full", "sold_out":
		place.Refused = strings.ReplaceAll(s.State, "_", "-")
	}
	return place
}

// place reads it from any answer on a gated path.
func (a answer) place() Place {
	name, said := a.problem()
	wait, ofGate := gateProblems[name]
	switch {
	case !ofGate || a.code < 400:
		return a.behind()
	case !wait:
		return Place{Refused: name, Code: a.code}
	}
	place := Place{State: name, Code: a.code, Again: a.retryAfter(time.Second)}
	if said.Queue != nil {
		place = said.Queue.place(a.code)
	}
	return place
}

// behind reads an answer from behind the gate.
func (a answer) behind() Place {
	place := Place{Inside: true, Code: a.code, Visitor: a.header.Get(tellsVisitor)}
	place.Ticket, _ = strconv.ParseUint(a.header.Get(tellsTicket), 10, 64)
	if nanos, err := strconv.ParseInt(a.header.Get(tellsTime), 10, 64); err == nil {
		place.At = time.Unix(0, nanos)
	}
	return place
}

// problem reads the answer as a problem of foyer's; its name is "" where it is none.
func (a answer) problem() (name string, said problem) {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(a.body, &said) != nil {
		return "", problem{}
	}
	name, ours := strings.CutPrefix(said.Type, problemPrefix)
	if !ours {
		return "", problem{}
	}
	return name, said
}
