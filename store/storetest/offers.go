package storetest

import (
	"time"

	"foyer/admission"
)

// offers is how slots go to those who wait.
var offers = map[string]func(*gate){
	"Sync_OffersFreeSlotsToTheLowestWhoWait": func(g *gate) {
		g.begun(nil)
		g.join(6)
		g.claim(1)
		g.claim(2)
		snapshot := g.pass(2*time.Second, 4, 5, 6) // 3 has gone; the leases last until 2.75 s
		g.wantTickets("waiting", members(snapshot.Waiting), 4, 5, 6)
		snapshot = g.pass(800*time.Millisecond, 4, 5, 6)
		g.wantTickets("offers", holders(snapshot, admission.Offer), 4, 5)
		g.wantTickets("waiting", members(snapshot.Waiting), 6)
		g.wantSlot(snapshot.Slots[0], admission.Offer, snapshot.Now.Add(time.Second))
	},
	"Sync_WaitsForWhoHearsLate": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.joinAs(admission.Join{ID: "far", N: 2, Family: admission.Far})
		mode := admission.ModeOn
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Mode: &mode})
		must(g, 0, err)
		snapshot := g.sync(2)
		g.wantSlot(snapshot.Slots[0], admission.Offer, snapshot.Now.Add(3*time.Second))
		g.wantSlot(snapshot.Slots[1], admission.Offer, snapshot.Now.Add(time.Second))
	},
	"Sync_WaitsForWhoWasToldTheFarIntervalLast": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(2) // told the near interval
		g.release(1)
		g.Advance(200 * time.Millisecond)
		snapshot := g.syncAs(admission.Sync{Far: set(2)}) // and then the far one
		g.wantSlot(snapshot.Slots[0], admission.Offer, snapshot.Now.Add(3*time.Second))
	},
	"Sync_MissedOfferGoesToTheNextAndComesBack": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		g.wantTickets("offers", holders(g.pass(300*time.Millisecond, 2, 3), admission.Offer), 2)
		g.pass(time.Second, 3)
		g.replica = "r2" // which is told everything
		snapshot := g.sync(3)
		g.wantTickets("offers", holders(snapshot, admission.Offer), 3)
		if snapshot.Missed[2] != 1 {
			g.Fatalf("missed %v, want one of ticket 2", snapshot.Missed)
		}
		g.join(1)
		g.release(3)
		g.wantTickets("offers", holders(g.pass(300*time.Millisecond, 2, 4), admission.Offer), 2)
	},
	"Sync_TooManyMissedOffersEndTheTicket": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		g.pass(200*time.Millisecond, 2, 3)
		for range 3 {
			g.wantTickets("offers", holders(g.sync(2, 3), admission.Offer), 2)
			g.pass(900*time.Millisecond, 2, 3)
			g.Advance(admission.Tick)
		}
		snapshot := g.sync(2, 3)
		g.wantTickets("offers", holders(snapshot, admission.Offer), 3)
		g.wantTickets("ended", members(snapshot.Ended), 2)
		g.wantTickets("waiting", members(snapshot.Waiting))
	},
	"Sync_SilentVisitorsAreNotCounted": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(200)
		g.wantTickets("waiting", members(g.pass(1500*time.Millisecond, run(101, 110)...).Waiting), run(101, 110)...)
		snapshot := g.sync(7) // back within queue.keep
		g.wantTickets("waiting", members(snapshot.Waiting), append(run(7, 7), run(101, 110)...)...)
	},
	"Sync_ForgottenTicketsMoveTheBase": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode, r.Keep = admission.ModePaused, time.Second })
		g.join(700)
		snapshot := g.pass(10*time.Second, run(300, 310)...)
		if snapshot.Base != 256 || snapshot.Waiting.Base%64 != 0 {
			g.Fatalf("base %d, want 256", snapshot.Base)
		}
		g.wantTickets("waiting", members(snapshot.Waiting), run(300, 310)...)
		snapshot = g.sync(20) // forgotten: below the base
		g.wantTickets("waiting", members(snapshot.Waiting), run(300, 310)...)
	},
	"Sync_AnOutageSilencesNobody": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(3)
		g.pass(200*time.Millisecond, 1, 2, 3)
		g.Advance(time.Minute)
		g.wantTickets("waiting", members(g.sync().Waiting), 1, 2, 3)
	},
	"Sync_AfterAnOutageTheFirstReplicaDoesNotPassOverTheOthers": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(5)
		g.syncAs(admission.Sync{Busy: []admission.Ticket{1}, Near: set(2, 3, 4, 5)})
		g.pass(400*time.Millisecond, 2, 3, 4, 5)
		g.Advance(5 * time.Second) // 1 is out
		g.wantTickets("offers", holders(g.sync(4, 5), admission.Offer), 2)
	},
	"Sync_AnOutageMissesNobodysOffer": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		g.wantTickets("offers", holders(g.pass(300*time.Millisecond, 2, 3), admission.Offer), 2)
		g.Advance(4 * time.Second) // nobody could claim, and no replica could hear it
		snapshot := g.sync(3)
		g.wantTickets("offers", holders(snapshot, admission.Offer), 2)
		g.Advance(500 * time.Millisecond)
		g.wantSlot(g.claim(2), admission.Lease, snapshot.Now.Add(500*time.Millisecond+Rules().LeaseLife()))
	},
	"Sync_TakesOnlyTicketsThatExist": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(3)
		g.wantTickets("waiting", members(g.sync(0, 3, 4, 5, 900).Waiting), 1, 2, 3)
		if joined := g.join(1); joined.First != 4 {
			g.Fatalf("joined %+v", joined)
		}
	},
	"Sync_RateNeverPilesUp": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity, r.AdmitRate, r.Mode = 100, 120, admission.ModePaused })
		g.join(50)
		all := run(1, 50)
		g.pass(3*time.Second, all...)
		mode := admission.ModeOn
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Mode: &mode})
		must(g, 0, err)
		g.wantTickets("at once", holders(g.sync(all...), admission.Offer), 1, 2)
		g.wantTickets("after 400 ms", holders(g.pass(400*time.Millisecond, all...), admission.Offer), 1, 2)
		g.wantTickets("after 500 ms", holders(g.pass(100*time.Millisecond, all...), admission.Offer), 1, 2, 3)
	},
	"Sync_LoweredCapacityGivesNothingUntilFewerAreInside": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 8 })
		g.join(10)
		for _, t := range run(1, 8) {
			g.claim(t)
		}
		lower := 5
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Capacity: &lower})
		must(g, 0, err)
		for _, t := range run(1, 4) {
			snapshot, err := g.Store.Sync(g.Context(), admission.Sync{Replica: "r1", Near: set(9, 10)})
			g.wantTickets("offers", holders(must(g, snapshot, err), admission.Offer))
			g.release(t)
			g.Advance(200 * time.Millisecond)
		}
		g.wantTickets("offers", holders(g.sync(9, 10), admission.Offer), 9)
	},
}
