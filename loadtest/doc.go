// Package loadtest walks crowds of simulated people through a waiting room and a shop, over HTTP alone, and reports
// what came of it.
//
// A [Visitor] is one browser or app with a cookie jar of its own: it arrives, polls as it is told, and is let in, is
// turned away or gives up. A [Buyer] is a visitor with a plan for what to do inside: hold, pay, keep the receipt, or
// one of the ways in which real people spoil a sale. A [Crowd] lets many of them arrive on a schedule that does not
// wait for answers, and keeps the tally. A [Meter] stands in front of an origin and measures how many were inside at
// once, from the outside: it trusts no gate. A [Report] shows the results on a terminal, as JSON and as one HTML file.
//
//	arrive ──▶ waiting ──▶ inside ──▶ holding ──▶ paying ──▶ bought
//	   │          │           │           │           └────▶ declined
//	   │          │           │           └──▶ left unpaid
//	   │          │           └──▶ vanished, sold out
//	   └──────────┴──▶ gave up, sold out, refused
//
// It knows nothing of foyer but its wire contract, and sends nothing beyond the loopback interface unless told to.
package loadtest
