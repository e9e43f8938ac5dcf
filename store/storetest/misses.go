package storetest

import (
	"time"

	"foyer/admission"
)

// misses is which offers count as missed: those that their visitor could have heard of, and each silence once.
var misses = map[string]func(*gate){
	"Miss_CountsWhileAllReplicasAreHeard": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		for range 14 {
			g.both(2, 3)
		}
		g.wantMissed(2, 1)
	},
	"Miss_WhileAReplicaIsCutOffCountsForNothing": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		g.both()
		for range 4 { // 2 asks at r2, which loses its store as soon as 2 has an offer
			g.wantTickets("offers", holders(g.both(2, 3), admission.Offer), 2)
			g.wantTickets("offers", holders(g.pass(time.Second, 3), admission.Offer), 3)
			g.pass(900*time.Millisecond, 3)
		}
		g.wantMissed(2, 0)
	},
	"Miss_IsOneForOneSilenceThoughItsPollIsReportedTwice": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		g.release(1)
		g.wantTickets("offers", holders(g.pass(200*time.Millisecond, 2, 3), admission.Offer), 2)
		g.pass(600*time.Millisecond, 2, 3) // answers were lost, so that the polls are reported again
		g.wantTickets("offers", holders(g.pass(400*time.Millisecond, 3), admission.Offer), 3)
	},
	"Miss_ByWhoIsTakenToBeLiveAfterALossCountsForNothing": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(3)
		image := g.image(g.sync(2, 3))
		image.Missed = map[admission.Ticket]int{2: 2}
		g.lost()
		g.restore(image)
		g.wantTickets("offers", holders(g.pass(2600*time.Millisecond), admission.Offer), 2)
		snapshot := g.pass(3100*time.Millisecond, 3) // 2 has slept since before the loss
		g.wantTickets("offers", holders(snapshot, admission.Offer), 3)
		g.wantMissed(2, 2)
	},
}

// both is a tick of two replicas; the tickets given have polled at one of them.
func (g *gate) both(polled ...admission.Ticket) admission.Snapshot {
	g.Advance(admission.Tick)
	g.sync()
	g.replica = "r2"
	defer func() { g.replica = "r1" }()
	return g.sync(polled...)
}

// wantMissed wants a ticket to have missed so many offers, and to be in line still.
func (g *gate) wantMissed(t admission.Ticket, n int) {
	g.Helper()
	g.replica = "another" // which is told everything
	if snapshot := g.sync(); snapshot.Missed[t] != n || snapshot.Ended.Has(t) {
		g.Fatalf("missed %v, ended %v", snapshot.Missed, members(snapshot.Ended))
	}
}
