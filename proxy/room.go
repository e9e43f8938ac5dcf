package proxy

import (
	"context"
	"time"

	"foyer/admission"
)

// Room is one gate as this replica sees it. All methods may be called at once from many goroutines, judge by the
// store's clock, and take the candidate tokens of a request in the order of arrival: the first that verifies counts.
// A refusal is a verdict.
type Room interface {
	// Visit judges a request on a gated path: it claims an offer, renews a pass, and joins if join is set.
	Visit(ctx context.Context, tokens []string, join bool) admission.Verdict
	// Status answers a poll, without a call to the store.
	Status(ctx context.Context, tokens []string) admission.Verdict
	// Join gives a place in line; created is false where the token had one already.
	Join(ctx context.Context, tokens []string) (v admission.Verdict, created bool)
	// Claim turns an offer into a pass. Repeating it is harmless.
	Claim(ctx context.Context, tokens []string) admission.Verdict
	// Leave gives up the place or the slot. Repeating it is harmless.
	Leave(ctx context.Context, tokens []string) admission.Verdict
	// Identify says whose token it is, whatever its age or round, without a call to the store. The outcome is Admit if
	// it is a valid pass.
	Identify(tokens []string) (v admission.Verdict, ok bool)
	// Note takes notice that a visitor has shown its token on a request that is not judged.
	Note(tokens []string)
	// Enter counts a request in flight on a pass. It waits for its turn for a few seconds; ok is false where none came.
	// The lease is kept while the request is in flight. leave must be called once.
	Enter(ctx context.Context, ticket admission.Ticket) (leave func(), ok bool)
	// Over is closed when the lease of a ticket ends while a request of it is in flight. It is asked for between Enter and
	// leave; nil, which is never closed, for anybody else.
	Over(ticket admission.Ticket) <-chan struct{}
	// Extend carries a lease to d from now, within its limits. A verdict with a token has a pass that says so.
	Extend(ctx context.Context, ticket admission.Ticket, d time.Duration) (admission.Verdict, error)
	// Release ends a ticket for good.
	Release(ctx context.Context, ticket admission.Ticket) error
	// SoldOut tells the line what is left to sell.
	SoldOut(n int)
	// Ready is closed when the room has heard from its store for the first time.
	Ready() <-chan struct{}
}
