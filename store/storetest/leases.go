package storetest

import (
	"time"

	"foyer/admission"
)

// leases is how slots are claimed, kept and given back.
var leases = map[string]func(*gate){
	"Claim_TurnsAnOfferIntoALease": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(2)
		g.wantSlot(g.claim(2), admission.NoSlot, time.Time{})
		g.release(1)
		g.pass(200*time.Millisecond, 2)
		ends := g.now().Add(2750 * time.Millisecond)
		g.wantSlot(g.claim(2), admission.Lease, ends)
		g.Advance(time.Second)
		g.wantSlot(g.claim(2), admission.Lease, ends) // again: as it stands
	},
	"Claim_ExpiredOfferIsGoneBeforeItIsSwept": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(2)
		g.release(1)
		g.pass(200*time.Millisecond, 2)
		g.Advance(time.Second)
		g.wantSlot(g.claim(2), admission.NoSlot, time.Time{})
	},
	"Confirm_LastsOnlyForClaimUntilTheTokenIsShown": func(g *gate) {
		joined := g.joinedTwo()
		ends := joined.Now.Add(2750 * time.Millisecond)
		snapshot := g.syncAs(admission.Sync{Confirmed: []admission.Ticket{1}})
		g.wantSlot(snapshot.Slots[0], admission.Lease, ends)
		g.Advance(500 * time.Millisecond)
		snapshot = g.syncAs(admission.Sync{Confirmed: []admission.Ticket{1}})
		g.wantSlot(snapshot.Slots[0], admission.Lease, ends) // once only: polls never extend a confirmed lease
		g.wantTickets("leases", holders(g.pass(500*time.Millisecond), admission.Lease), 1)
	},
	"Busy_KeepsTheSlotWhileTheRequestRuns": func(g *gate) {
		g.joinedTwo()
		for range 30 {
			g.Advance(admission.Tick)
			g.syncAs(admission.Sync{Busy: []admission.Ticket{1}})
		}
		g.wantTickets("leases after 3 s", holders(g.sync(), admission.Lease), 1)
		for range 70 {
			g.Advance(admission.Tick)
			g.syncAs(admission.Sync{Busy: []admission.Ticket{1}})
		}
		snapshot := g.sync()
		g.wantTickets("leases at session.max", holders(snapshot, admission.Lease))
	},
	"Renew_NeverPassesMax": func(g *gate) {
		joined := g.joinedTwo()
		g.wantSlot(g.renew(1, joined.Now.Add(8*time.Second)), admission.Lease, joined.Now.Add(8*time.Second))
		g.wantSlot(g.renew(1, joined.Now.Add(time.Second)), admission.Lease, joined.Now.Add(8*time.Second))
		g.wantSlot(g.renew(1, joined.Now.Add(time.Hour)), admission.Lease, joined.Now.Add(10*time.Second))
		g.pass(10 * time.Second)
		g.wantSlot(g.renew(1, joined.Now.Add(time.Hour)), admission.NoSlot, time.Time{})
		g.wantTickets("waiting", members(g.sync(1, 2).Waiting)) // 2 is offered a slot, 1 has ended
	},
	"Renew_HoldCarriesPastMax": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Hold = 5 * time.Minute })
		joined := g.join(2)
		end := joined.Now.Add(10 * time.Second)
		g.wantSlot(g.renew(1, end), admission.Lease, end)
		g.wantSlot(g.renew(1, end.Add(time.Hour)), admission.Lease, end.Add(6*time.Minute))
		snapshot := g.syncAs(admission.Sync{Busy: []admission.Ticket{1}, Confirmed: []admission.Ticket{1}})
		g.wantSlot(snapshot.Slots[0], admission.Lease, end.Add(6*time.Minute))
	},
	"Renew_NeverResurrects": func(g *gate) {
		joined := g.joinedTwo()
		g.Advance(time.Second) // not swept yet
		g.wantSlot(g.renew(1, joined.Now.Add(5*time.Second)), admission.NoSlot, time.Time{})
		snapshot := g.syncAs(admission.Sync{Busy: []admission.Ticket{1}, Confirmed: []admission.Ticket{2}})
		g.wantTickets("leases", holders(snapshot, admission.Lease))
	},
	"Idle_LetsTheVisitorComeBack": func(g *gate) {
		g.joinedTwo()
		g.join(1)
		g.pass(time.Second, 3)
		g.claim(3)
		g.wantTickets("offers", holders(g.sync(1), admission.Offer), 1)
	},
	"Release_FreesTheSlotWhenEveryReplicaHasHeard": func(g *gate) {
		g.joinedTwo()
		g.join(1)
		snapshot := g.syncAs(admission.Sync{Confirmed: []admission.Ticket{1, 2}, Near: set(3)})
		first, again := g.release(1), g.release(1)
		if first.Seq <= snapshot.Seq || again.Seq != first.Seq {
			g.Fatalf("seq %d, then %d, then %d", snapshot.Seq, first.Seq, again.Seq)
		}
		snapshot = g.pass(100*time.Millisecond, 3)
		g.wantTickets("leaving", holders(snapshot, admission.Leaving), 1)
		g.wantTickets("ended", members(snapshot.Ended), 1)
		snapshot = g.pass(100*time.Millisecond, 3)
		g.wantTickets("offers", holders(snapshot, admission.Offer), 3)
		g.wantSlot(g.claim(1), admission.NoSlot, time.Time{})
		g.wantTickets("waiting", members(g.sync(1).Waiting))
	},
	"Release_OfAWaitingTicketTakesItOutOfTheLine": func(g *gate) {
		g.joinedTwo()
		g.join(3)
		g.sync()
		g.release(4)
		g.release(99)
		snapshot := g.sync(3, 4, 5)
		g.wantTickets("waiting", members(snapshot.Waiting), 3, 5)
		g.wantTickets("ended", members(snapshot.Ended), 4)
		g.replica = "r2"
		snapshot = g.sync()
		g.wantTickets("ended, for a new replica", members(snapshot.Ended), 4)
		if !snapshot.EndedAll || len(snapshot.Replicas) != 2 {
			g.Fatalf("snapshot %+v", snapshot)
		}
	},
}

// joinedTwo begins and lets two visitors in, unconfirmed.
func (g *gate) joinedTwo() admission.Joined {
	g.begun(nil)
	return g.join(2)
}
