package strategy

import (
	"context"

	"foyer/origin"
)

// Ledger is what the strategies ask of a database, beside being the shop's [origin.Ledger]. Each method is one
// transaction that checks the capacity and the buyer's limit and writes the hold, or none of it. A hold whose id exists is
// answered as it stands, with its reason where it was refused.
type Ledger interface {
	// Event reads an event; ok is false where there is none.
	Event(ctx context.Context, id string) (stock origin.Stock, ok bool, err error)

	// HoldPessimistic locks the event, reads, decides and writes.
	HoldPessimistic(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error)

	// HoldConditional updates the event only if enough remains.
	HoldConditional(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error)

	// HoldGroup makes the holds of a group for one event, in their order. A refusal is one member's alone. After
	// [origin.ErrRejected] nothing was done, and some member cannot be written; after any other error the same group may be
	// given again: it finds by the ids what the lost try did. That one may also come later, whole, but not once there is a hold
	// or a tombstone of any of the ids.
	HoldGroup(ctx context.Context, event string, requests []origin.HoldRequest) ([]origin.HoldReply, error)

	// MoveGroup grants a group of wishes for holds of one event, in their order, as if they had come one by one. After
	// [origin.ErrRejected] nothing was done, and some wish cannot be written.
	MoveGroup(ctx context.Context, event string, wishes []origin.Wish) ([]origin.Granted, error)

	// Void writes tombstones, holds in state refused, for those ids that are no holds yet: they can never become one. It
	// answers with all of them as they stand.
	Void(ctx context.Context, event string, requests []origin.HoldRequest, reason origin.Refusal) (map[string]origin.Hold, error)

	// Standing reads an event and those of the holds that exist, in one snapshot. Stock.ID is empty where there is no such
	// event.
	Standing(ctx context.Context, event string, ids []string) (origin.Stock, map[string]origin.Hold, error)

	// RaiseEpoch raises an event's epoch from the one seen, so that of several who saw it only one does, and answers with
	// the stock as it stands.
	RaiseEpoch(ctx context.Context, event string, seen int64) (stock origin.Stock, raised bool, err error)
}

// Control is where Naive writes: tables of its own without the constraints that would stop it, never the shop's.
type Control interface {
	// HoldUnguarded reads what remains, checks it, and writes, in statements of their own.
	HoldUnguarded(ctx context.Context, request origin.HoldRequest) (origin.HoldReply, error)
}
