package origin

import "time"

// Event is what is on sale.
type Event struct {
	ID          string
	Name        string
	Capacity    int64
	Amount      int64  // price of one unit in minor units
	Currency    string // lower-case ISO 4217
	MaxPerBuyer int64  // over all holds and orders of one buyer
}

// Stock is an event and how much of it is taken, read in one statement.
type Stock struct {
	Event
	Sold, Held int64
	Epoch      int64     // raised when the counter of an event had to be rebuilt
	AsOf       time.Time // the ledger's clock
}

// Remaining is what can still be held; never negative.
func (s Stock) Remaining() int64 { return s.Capacity - s.Sold - s.Held }

// HoldState is a station in the life of a hold.
type HoldState string

// The states of a hold; see the package comment.
const (
	HoldPending  HoldState = "pending"
	HoldActive   HoldState = "active"
	HoldPaying   HoldState = "paying"
	HoldSold     HoldState = "sold"
	HoldRefused  HoldState = "refused"
	HoldReleased HoldState = "released"
	HoldExpired  HoldState = "expired"
)

// Hold is units of an event set aside for a buyer.
type Hold struct {
	ID        string
	Event     string
	Buyer     string
	Quantity  int64
	Amount    int64 // of all units together, minor units
	Currency  string
	State     HoldState
	Reason    Refusal // why refused
	Order     string  // once sold
	CreatedAt time.Time
	ExpiresAt time.Time // the ledger's clock
}

// Order is a sold hold with its payment.
type Order struct {
	ID        string
	Hold      string
	Event     string
	Buyer     string
	Quantity  int64
	Amount    int64
	Currency  string
	Attempt   string // the attempt that paid it
	Charge    string // the gateway's id
	Refunded  int64  // minor units
	CreatedAt time.Time
}

// Refusal names why a request of a buyer was not done, in the words of the problem types on the wire.
type Refusal string

// The refusals of the shop.
const (
	NotRefused        Refusal = ""
	SoldOut           Refusal = "sold-out"
	LimitExceeded     Refusal = "limit-exceeded"
	NoSuchEvent       Refusal = "no-such-event"
	NoSuchHold        Refusal = "no-such-hold"
	NoSuchOrder       Refusal = "no-such-order"
	HoldIsExpired     Refusal = "hold-expired"
	AlreadyPaid       Refusal = "already-paid"
	PaymentInProgress Refusal = "payment-in-progress"
	PaymentPending    Refusal = "payment-pending"
	Declined          Refusal = "declined"
	CapacityInUse     Refusal = "capacity-in-use"
)
