// Package admission holds the rules of a waiting room: tickets, tokens, slots, verdicts, positions and estimates.
//
// It knows no HTTP, SQL or Redis. A [Store] keeps what all replicas share, one atomic verb at a time; a Room is one
// replica's view of one gate, brought up to date once per [Tick] by Sync, and answers visitors from that view.
//
// # Words
//
// A gate is one waiting room with a capacity K. A visitor is one browser or app, known by the sub of its token. A
// ticket is its number in the line. A slot is an offer (reserved until claimed or until it lapses) or a lease (in
// use); all slots together never exceed K. A pass is the signed proof of a lease, a queue token that of a ticket.
//
// # Life of a ticket
//
//	            ┌────────────── missed, or silent for session.idle ──────────────┐
//	            ▼                                                                │
//	join ──▶ waiting ──Sync──▶ offered ──Claim──▶ leased ──Release, session.max──▶ ended
//	  │         ▲                 │                 ▲
//	  │         └── offer lapsed ─┘                 │
//	  └────────── a slot is free and nobody waits ──┘
//
// Who waits is live (polled within the last liveness window), without a slot, and not ended. Who is next is the lowest
// of them. A position is 1 + the number of waiting tickets below.
//
// # How a Room answers
//
// Once per Tick the Room reports what it has seen as bitmaps and gets a snapshot back, which becomes its view: an
// immutable value from which every request is judged by pure functions of the view, the token and the time (place and
// decide). Polls end there. A request on a gated path asks the store in five cases only: it has no ticket (Join, shared
// by all arrivals of the same milliseconds), an offer (Claim), a pass that has lost a quarter of Idle or has run out
// (Renew), a pass that the restored line does not know (Vouch), or it is done (Release).
//
// # When the store fails
//
// After one call without an answer no request waits on the store until a Sync succeeds again; passes are good to their
// end, which lies before that of their lease by the store's clock. A line that was lost is given back by the replicas
// with what each knows of it: its image, kept by a [Keeper] beyond the process.
package admission
