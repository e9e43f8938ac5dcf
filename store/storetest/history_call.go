package storetest

import (
	"fmt"
	"slices"

	"foyer/origin"
)

// The size of a history: what the model has room for.
const (
	historyBuyers   = 16
	historyHolds    = 192
	historyAttempts = 3 // of a hold
)

// station is where a hold or an attempt stands; none is before it is made.
type station byte

const none station = 0

// The stations of holds and of attempts, in the order of their numbers.
var (
	holdStations    = []origin.HoldState{"", origin.HoldActive, origin.HoldPaying, origin.HoldSold, origin.HoldRefused, origin.HoldReleased, origin.HoldExpired}
	attemptStations = []origin.AttemptState{"", origin.AttemptOpen, origin.AttemptPaid, origin.AttemptDeclined, origin.AttemptCanceled, origin.AttemptRefundDue}
)

func holdAt(s origin.HoldState) station       { return station(slices.Index(holdStations, s)) }
func attemptAt(s origin.AttemptState) station { return station(slices.Index(attemptStations, s)) }

// verb is what a client did.
type verb string

const (
	verbHold    verb = "hold"
	verbRelease verb = "release"
	verbStart   verb = "start"  // begin to pay
	verbSettle  verb = "settle" // tell the gateway's word
	verbExpire  verb = "expire" // let the reaper end what has lapsed
	verbLapse   verb = "lapse"  // a hold that some reaper, who got no answer, may have ended
	verbVoid    verb = "void"   // a hold that somebody has voided, of whose call the answer was lost
	verbResize  verb = "resize"
	verbLook    verb = "look" // read the stock
	verbSee     verb = "see"  // read a hold
	verbAudit   verb = "audit"
)

// call is what was asked. A hold is a number; its buyer and its quantity never change.
type call struct {
	verb     verb
	hold     int
	buyer    int
	quantity int64
	short    bool // the hold lapses within the history; others never do
	stranger bool // somebody else than the buyer asks
	attempt  int  // of the hold
	word     station
	capacity int64 // of a resize
	exact    bool  // nothing else is under way, so no doorkeeper may be wrong
	doorman  int64 // units that a doorkeeper may have counted as taken though the ledger does not: in calls that were under way
}

// answer is what came back. Where it is unknown the call may have done its work at any time since, or never.
type answer struct {
	unknown    bool
	refusal    origin.Refusal
	state      station // of the hold
	attempt    station
	freed      bool
	ended      []call // the holds that were ended
	held, sold int64
	final      *eventState // of an audit
}

func (c call) String() string {
	return fmt.Sprintf("%s hold %d (%d for buyer %d, short %v, doorman %d) attempt %d %s, stranger %v, capacity %d", c.verb, c.hold, c.quantity,
		c.buyer, c.short, c.doorman, c.attempt, attemptStations[c.word], c.stranger, c.capacity)
}

func (a answer) String() string {
	if a.unknown {
		return "?"
	}
	return fmt.Sprintf("%s hold %s, attempt %s, freed %v, ended %v, held %d, sold %d", a.refusal, holdStations[a.state],
		attemptStations[a.attempt], a.freed, a.ended, a.held, a.sold)
}

func buyerName(buyer int) string { return fmt.Sprint("buyer", buyer) }
func holdName(hold int) string   { return fmt.Sprint("h", hold) }
func attemptName(c call) string  { return fmt.Sprintf("%s-%d", holdName(c.hold), c.attempt) }
