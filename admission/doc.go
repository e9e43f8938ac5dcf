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
package admission
