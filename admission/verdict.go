package admission

import "time"

// Outcome is what is to be done with a request: forward it, let its visitor wait, or refuse it.
type Outcome int

// The outcomes. A verdict is a value, never an error.
const (
	Wait Outcome = iota
	Admit
	Refuse
)

// Refusal names why somebody is not admitted, in the words of the problem types on the wire.
type Refusal string

// The refusals of the gate itself.
const (
	NotRefused        Refusal = ""
	RefusedFull       Refusal = "full"
	RefusedClosed     Refusal = "closed"
	RefusedSoldOut    Refusal = "sold-out"
	RefusedNoTicket   Refusal = "no-ticket"   // a poll or claim without a valid token
	RefusedNotOffered Refusal = "not-offered" // a claim without an offer
	RefusedStore      Refusal = "store-unavailable"
	RefusedBusy       Refusal = "too-many-requests-in-flight"
)

// State is where a visitor stands.
type State string

// The states of a visitor, as the status object names them.
const (
	StateLobby    State = "lobby"
	StateWaiting  State = "waiting"
	StateOffered  State = "offered"
	StateAdmitted State = "admitted"
	StatePaused   State = "paused"
	StateClosed   State = "closed"
	StateFull     State = "full"
	StateSoldOut  State = "sold_out"
	StateEnded    State = "ended"
)

// Status is what a visitor is told about its place.
type Status struct {
	Gate           string
	State          State
	Ticket         Ticket        // 0: none
	Position       int           // 1 = next; 0 when offered or admitted, or without a ticket
	Waiting        int           // live visitors in line
	Eta            *Eta          // nil while unknown
	PollAfter      time.Duration // when to ask again
	OfferExpires   time.Time     // when offered
	SessionExpires time.Time     // when admitted: the end of the pass
	OpensAt        time.Time     // before the opening
	AsOf           time.Time     // the store's time of what this was judged by
	Reason         string        // for people; "" mostly
}

// Eta is an estimated wait as a range.
type Eta struct{ Low, High time.Duration }

// Verdict is the answer to one request.
type Verdict struct {
	Outcome Outcome
	Refusal Refusal // set when Outcome is Refuse; also the type of a Wait that is not "waiting"
	Status  Status
	Visitor string // sub; "" where nobody is known
	Ticket  Ticket
	Token   string    // a token to hand out; "" where the visitor's own is still right
	Until   time.Time // how long the client should keep Token
	Clear   bool      // the visitor's token is of no use any more: have the client drop it
}
