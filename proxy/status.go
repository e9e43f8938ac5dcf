package proxy

import (
	"encoding/json"
	"time"

	"foyer/admission"
)

// stamp is how times are written: RFC 3339 with milliseconds, in UTC.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// status is the status object as it is sent. What is not known is null.
type status struct {
	Gate           string  `json:"gate"`
	State          string  `json:"state"`
	Ticket         *uint64 `json:"ticket"`
	Position       int     `json:"position"`
	Ahead          int     `json:"ahead"`
	Waiting        int     `json:"waiting"`
	Eta            *eta    `json:"eta_seconds"`
	PollAfter      int64   `json:"poll_after_ms"`
	OfferExpires   *string `json:"offer_expires_at"`
	SessionExpires *string `json:"session_expires_at"`
	OpensAt        *string `json:"opens_at"`
	AsOf           *string `json:"as_of"`
	Reason         *string `json:"reason"`
}

// eta is an estimate in whole seconds.
type eta struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// newStatus is what a visitor is told, in the words of the wire.
func newStatus(gate string, s admission.Status) status {
	wire := status{
		Gate: gate, State: string(s.State), Position: s.Position, Ahead: max(0, s.Position-1), Waiting: s.Waiting,
		PollAfter: s.PollAfter.Milliseconds(), OfferExpires: instant(s.OfferExpires),
		SessionExpires: instant(s.SessionExpires), OpensAt: instant(s.OpensAt), AsOf: instant(s.AsOf),
	}
	if s.Ticket != 0 {
		ticket := uint64(s.Ticket)
		wire.Ticket = &ticket
	}
	wire.Eta = newEta(s.Eta)
	if s.Reason != "" {
		wire.Reason = &s.Reason
	}
	return wire
}

// newEta is an estimate in whole seconds, or null.
func newEta(e *admission.Eta) *eta {
	if e == nil {
		return nil
	}
	return &eta{Low: int64(e.Low / time.Second), High: int64((e.High + time.Second - 1) / time.Second)}
}

// instant is a time as it is written, or null.
func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(stamp)
	return &s
}

// encode writes a value that always has a JSON form.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil { // only a type that JSON cannot hold leads here, and none of ours is one
		return []byte("null")
	}
	return append(body, '\n')
}
