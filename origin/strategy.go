package origin

import (
	"context"
	"time"
)

// Strategy makes holds: the decrement. The alternatives stand side by side in store/strategy.
type Strategy interface {
	// Hold sets units aside, or says why not. A hold is true once it is a row in the ledger: the check of the capacity,
	// the check of the buyer's limit and the row are one transaction there. Repeating it with the same ID answers with
	// the hold as it stands and takes nothing again. A strategy whose ledger has not answered in time may answer with a
	// hold in HoldPending, which becomes active or refused.
	Hold(ctx context.Context, request HoldRequest) (HoldReply, error)

	// Pending finds a hold that is taken and not yet in the ledger (HoldPending); ok is false where there is none, as it
	// always is with a strategy that keeps nothing beside the ledger.
	Pending(ctx context.Context, id string) (hold Hold, ok bool, err error)

	// GaveBack tells that the ledger has ended a hold and its units can be sold again. Idempotent by hold id; losing it
	// costs nothing but time, since Reconcile finds it too.
	GaveBack(ctx context.Context, ended Ended) error

	// Reconcile compares what the strategy keeps beside the ledger with the ledger, mends it, and reports.
	Reconcile(ctx context.Context, event string) (Reconciliation, error)

	// Compare reports what Reconcile would find and mends nothing.
	Compare(ctx context.Context, event string) (Reconciliation, error)

	// Run does the strategy's work in the background until the context ends.
	Run(ctx context.Context) error
}

// HoldRequest asks for a hold.
type HoldRequest struct {
	ID       string // made by the caller; the same id is the same hold
	Event    string
	Buyer    string
	Quantity int64         // at least 1
	TTL      time.Duration // from the ledger's clock at the moment the hold is written
	Repeated bool          // it may have been asked for before: a doorkeeper that has forgotten must not send it away
}

// HoldReply is the hold, or why there is none.
type HoldReply struct {
	Hold    Hold
	Refusal Refusal // NotRefused, SoldOut, LimitExceeded, NoSuchEvent
}

// Ended is a hold that gave its units back.
type Ended struct {
	Hold, Event string
	Quantity    int64
}

// Reconciliation is what a reconcile of one event found and did.
type Reconciliation struct {
	Event            string
	Checked          int64  // holds looked at
	StrandedReturned int64  // units taken from the counter that no hold stands for, given back
	Counter          *int64 // after it; nil where the strategy has none
	Pending          int64  // takes whose ledger row is still to come
	DriftBefore      int64  // counter − remaining, before
	DriftAfter       int64  // and after
}
