package origin

import (
	"context"
	"errors"
	"time"
)

// Errors of a [Ledger] that a caller branches on. After each of them, what was asked was not done.
var (
	// ErrFenced: the caller's claim on an idempotency key, or its attempt, was taken over by another process.
	ErrFenced = errors.New("it was taken over by another process")
	// ErrRejected: the database rejected what was to be written, by a constraint or for its form.
	ErrRejected = errors.New("the ledger rejected it")
)

// Ledger is the database: the truth about events, holds, payments and orders. Each method is one transaction. Times are
// the database's, read after the row lock; `held + sold <= capacity` and the buyer's limit are constraints there.
// Refusals are values. An error means that the outcome is unknown unless the method says otherwise; every method may be
// repeated.
type Ledger interface {
	// PutEvent creates an event, or takes over its name, price and limit where it exists. The capacity of an existing one
	// is changed only where the given one differs from the given one before (so that Resize survives a restart), and
	// never below sold + held.
	PutEvent(ctx context.Context, event Event) (Stock, error)
	// Events lists all events by id.
	Events(ctx context.Context) ([]Stock, error)
	// Event reads one; ok is false where there is none.
	Event(ctx context.Context, id string) (stock Stock, ok bool, err error)
	// Resize changes the capacity: CapacityInUse below sold + held, NoSuchEvent.
	Resize(ctx context.Context, event string, capacity int64) (Stock, Refusal, error)
	// Audit reads the ledger of an event in one snapshot.
	Audit(ctx context.Context, event string) (audit Audit, ok bool, err error)

	// Check looks through the whole ledger, in one snapshot, for rows that break an invariant: none in a sound one. A
	// payment that is unsettled for longer than settle is one of them. Of each invariant it names up to 1,000.
	Check(ctx context.Context, settle time.Duration) ([]Finding, error)

	// Hold reads a hold in any state; ok is false where there is none.
	Hold(ctx context.Context, id string) (hold Hold, ok bool, err error)
	// Release ends an active hold on its buyer's wish. Repeated: the same answer. PaymentInProgress while paying,
	// AlreadyPaid when sold, NoSuchHold where the buyer has no such hold. Freed tells whether this call gave units back.
	Release(ctx context.Context, id, buyer string) (hold Hold, freed bool, refusal Refusal, err error)
	// Expire ends up to limit active holds whose time has passed, and returns them: one transaction for each event, so
	// beside an error it returns those that are already ended. Two reapers at once never end the same hold twice.
	Expire(ctx context.Context, limit int) ([]Ended, error)

	// StartPayment moves a hold from active to paying and writes the attempt, in one guarded step. With an attempt id that
	// exists it answers with that attempt as it stands, its hold, and its order once it is paid. Refusals: NoSuchHold
	// (none of this buyer), HoldIsExpired (also released or refused), AlreadyPaid (with the order), PaymentPending
	// (another attempt of this hold is open).
	StartPayment(ctx context.Context, start PaymentStart) (PaymentReply, error)
	// KeepIntent stores the gateway's intent of an attempt, before it is confirmed: without one, nothing was charged.
	// ErrFenced where the attempt is no longer open: the caller must not confirm.
	KeepIntent(ctx context.Context, attempt, intent string) error
	// Settle takes over the gateway's word on an attempt: paid makes the order and moves the hold from paying to sold;
	// declined or canceled ends the attempt and gives the hold back to active (or to expired, if its time has passed).
	// Settling again answers with what stands: the first word counts, except that paid comes through over declined and
	// canceled. Paid for a hold that is not paying any more tries to take the units again; where that fails too, the
	// attempt is left in AttemptRefundDue. An attempt that does not exist answers with a zero Settled.
	Settle(ctx context.Context, settle Settlement) (Settled, error)
	// Open takes up to limit attempts in AttemptOpen or AttemptRefundDue that were last touched (made, given an intent, or
	// returned by Open) longer ago than idle, oldest first, and touches them: two resolvers do not work on the same ones,
	// and one that stays open does not keep the others waiting.
	Open(ctx context.Context, idle time.Duration, limit int) ([]Attempt, error)
	// Attempt finds one by its id or by its intent.
	Attempt(ctx context.Context, idOrIntent string) (attempt Attempt, ok bool, err error)
	// RefundDue notes that a paid attempt is to be refunded, before the gateway is asked to: whoever finds it finishes it.
	// One that is due or refunded already stays as it is.
	RefundDue(ctx context.Context, attempt string) error
	// Refunded notes that the gateway has refunded an attempt, on the attempt and on its order if there is one. Once:
	// repeating it changes nothing. The units of a refunded order stay sold.
	Refunded(ctx context.Context, attempt string, amount int64) error

	// Order reads an order.
	Order(ctx context.Context, id string) (order Order, ok bool, err error)

	// ClaimKey claims an idempotency key for one run of a request, or answers with what is known of it. A claim lasts for
	// the given time; one whose owner died is taken over with a higher fence.
	ClaimKey(ctx context.Context, key Key, fingerprint string, lasts time.Duration) (KeyState, error)
	// KeepAnswer stores the determined answer of a claimed key; ErrFenced where the claim was lost.
	KeepAnswer(ctx context.Context, key Key, fence int64, answer Answer) error
	// DropKey gives a claim up without an answer; the next request with the key (and the same fingerprint) runs again.
	// Dropping a claim that was lost does nothing.
	DropKey(ctx context.Context, key Key, fence int64) error
	// ForgetKey gives a claim up under which nothing was begun: the next request with the key runs, whatever its
	// fingerprint. Forgetting a claim that was lost does nothing.
	ForgetKey(ctx context.Context, key Key, fence int64) error

	// SweepKeys deletes up to limit keys that nobody has claimed for longer than age, and returns how many it did.
	SweepKeys(ctx context.Context, age time.Duration, limit int) (int, error)

	// KeepWebhook stores a webhook once and applies its settlement (if any, and if its attempt is known) in the same
	// transaction; fresh is false where it was stored before.
	KeepWebhook(ctx context.Context, hook Webhook, settle *Settlement) (fresh bool, settled Settled, err error)

	// Ping reports whether the ledger answers.
	Ping(ctx context.Context) error
}

// Audit is what the ledger says of an event, all of it counted from rows, not from the counters it is compared with.
type Audit struct {
	Stock
	HeldRows, SoldRows      int64 // units in holds that hold, and in holds that are sold
	Orders                  int64
	Active, Paying, Pending int64 // holds in these states
	ChargesCaptured         int64 // attempts that were paid
	ChargesRefunded         int64 // attempts that were refunded
}

// Finding is a row of the ledger that breaks an invariant.
type Finding struct {
	Invariant string `json:"invariant"` // what should hold
	Event     string `json:"event"`
	Row       string `json:"row"` // the id of the event, hold, attempt or order, or the buyer
	Detail    string `json:"detail"`
}

// AttemptState is a station in the life of a payment attempt.
type AttemptState string

// The states of an attempt.
const (
	AttemptOpen      AttemptState = "open" // the gateway's word is outstanding
	AttemptPaid      AttemptState = "paid"
	AttemptDeclined  AttemptState = "declined"
	AttemptCanceled  AttemptState = "canceled"
	AttemptRefundDue AttemptState = "refund_due" // paid, and to be refunded: there is no seat, or the operator wishes it
	AttemptRefunded  AttemptState = "refunded"
)

// Attempt is one try to pay for a hold, with its own key at the gateway (its ID).
type Attempt struct {
	ID       string
	Hold     string
	Event    string
	Buyer    string
	Method   string // the payment method
	Intent   string // the gateway's id, once known
	Charge   string // once paid
	Reason   string // why declined
	Amount   int64
	Currency string
	State    AttemptState
	Age      time.Duration // since it was made, by the ledger's clock
}

// PaymentStart asks to pay for a hold.
type PaymentStart struct {
	Attempt string // id, made by the caller from the idempotency key
	Hold    string
	Buyer   string
	Method  string
}

// PaymentReply answers it.
type PaymentReply struct {
	Hold    Hold
	Attempt Attempt
	Order   Order // with AlreadyPaid, or when the attempt is paid
	Refusal Refusal
}

// Settlement is the gateway's word on an attempt.
type Settlement struct {
	Attempt string
	State   AttemptState // AttemptPaid, AttemptDeclined or AttemptCanceled
	Charge  string
	Reason  string // of a decline
}

// Settled is what came of it.
type Settled struct {
	Hold    Hold
	Attempt Attempt
	Order   Order  // when paid
	Freed   *Ended // set when this call gave units back (declined after the hold's time)
	Changed bool   // this call moved the attempt: counted once, however often it is settled
}

// Key is an idempotency key: each buyer and route has its own.
type Key struct{ Buyer, Route, Key string }

// Answer is a stored answer, to be replayed to the byte.
type Answer struct {
	Status  int
	Headers map[string]string // those that belong to the answer: Location, Content-Type
	Body    []byte
}

// KeyState is what is known of a key.
type KeyState struct {
	Claimed  bool    // this caller runs the request now, with Fence
	Fence    int64   //
	Mismatch bool    // the key was used with another fingerprint
	Answer   *Answer // the determined answer, when there is one; else another caller is running it
}

// Webhook is a verified event of the gateway.
type Webhook struct {
	ID, Provider, Type, Intent string
	Payload                    []byte
}
