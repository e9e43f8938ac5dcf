package storetest

import (
	"time"

	"foyer/admission"
)

// crowds is what many visitors at once must not change.
var crowds = map[string]func(*gate){
	"Crowd_OfWhomMostVanishIsCountedWithoutThem": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode, r.QueueMax = admission.ModePaused, 20_000 })
		g.join(10_000)
		var stay []admission.Ticket
		for t := admission.Ticket(10); t <= 10_000; t += 10 {
			stay = append(stay, t)
		}
		rank := admission.NewRank(g.pass(g.windows(), stay...).Waiting)
		if rank.Len() != 1000 || rank.Below(10_000) != 999 || rank.Below(5000) != 499 {
			g.Fatalf("%d wait, %d before the last, %d before the middle", rank.Len(), rank.Below(10_000), rank.Below(5000))
		}
	},
	"Crowd_ThatHasEndedKeepsNoPlaceHoweverLongItPolls": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(130)
		for t := range admission.Ticket(127) {
			g.release(1 + t)
		}
		if base := g.pass(2*time.Second, run(1, 130)...).Base; base != 0 {
			g.Fatalf("base %d while they poll", base)
		}
		if base := g.pass(3*time.Second, run(128, 130)...).Base; base != 128 {
			g.Fatalf("base %d when they have stopped", base)
		}
	},
	"Crowd_WhoseSlotsAllEndAtOnceIsSweptInTurns": func(g *gate) {
		const many = 5000
		g.begun(func(r *admission.Rules) { r.Capacity, r.QueueMax = many, 2*many })
		for range many / 500 {
			g.join(500)
		}
		g.join(1000)
		g.Advance(time.Second)
		snapshot := g.sync()
		if len(snapshot.Slots) != many || len(holders(snapshot, admission.Offer)) != 500 {
			g.Fatalf("after one tick %d slots, %d offers", len(snapshot.Slots), len(holders(snapshot, admission.Offer)))
		}
		snapshot = g.pass(time.Second, run(many+1, many+1000)...)
		g.wantTickets("leases", holders(snapshot, admission.Lease))
	},
}

// windows is how long it takes until somebody silent is not live any more.
func (g *gate) windows() time.Duration { return 3 * Rules().FarWindow() }
