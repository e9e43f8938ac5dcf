// Package origin is the embedded shop: what is on sale, holds, payments and orders, with the loops that keep them
// right (reaper, resolver, reconciler), and its HTTP API.
//
// It knows no driver. The [Ledger] is the truth; a [Strategy] makes holds against it; a [Gateway] takes the money.
//
// # Life of a hold
//
//	pending ──▶ active ──pay──▶ paying ──▶ sold
//	   │          │  ▲            │
//	   ▼          │  └─ declined ─┘
//	refused       ├──▶ released   (the buyer gave it back)
//	              └──▶ expired    (expires_at passed; never while paying)
//
// Units are held in pending, active and paying, and sold in sold; a hold leaves them exactly once.
package origin
