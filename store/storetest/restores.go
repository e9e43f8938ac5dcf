package storetest

import (
	"time"

	"foyer/admission"
)

// restores is how a line that was lost is given back. The gate's Lose has the store forget everything.
var restores = map[string]func(*gate){
	"Restore_KeepsPlacesSlotsAndOrder": func(g *gate) {
		g.begun(nil)
		g.join(6)
		g.claim(1)
		g.release(4)
		g.Advance(500 * time.Millisecond)
		image := g.image(g.sync(3, 5))
		g.lost()
		standing := g.restore(image)
		if standing.Round != "one" || standing.Seq <= image.Seq {
			g.Fatalf("restored %+v from step %d", standing, image.Seq)
		}
		snapshot := g.sync()
		g.wantTickets("leases", holders(snapshot, admission.Lease), 1, 2)
		g.wantTickets("waiting", members(snapshot.Waiting), 3, 5, 6)
		g.wantTickets("ended", members(snapshot.Ended), 4)
		if snapshot.Tail != 106 || !snapshot.EndedAll || !snapshot.Gives.Equal(standing.Now.Add(2500*time.Millisecond)) {
			g.Fatalf("snapshot %+v", snapshot)
		}
	},
	"Restore_PutsOffTicketsAndSlots": func(g *gate) {
		g.begun(nil)
		g.join(3)
		image := g.image(g.sync(3))
		g.lost()
		g.restore(image)
		if joined := g.join(1); joined.N != 0 || joined.Refusal != admission.RefusedStore {
			g.Fatalf("joined %+v at once", joined)
		}
		g.wantTickets("offers", holders(g.pass(2400*time.Millisecond, 3), admission.Offer)) // both leases have run out
		g.wantTickets("offers", holders(g.pass(100*time.Millisecond, 3), admission.Offer), 3)
		if joined := g.join(1); joined.N != 0 {
			g.Fatalf("joined %+v before 3 s", joined)
		}
		g.pass(500*time.Millisecond, 3)
		if joined := g.join(1); joined.First != 104 {
			g.Fatalf("joined %+v", joined)
		}
	},
	"Restore_GivesAnOfferItsTimeToBeClaimed": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		g.join(2)
		g.release(1)
		image := g.image(g.pass(300*time.Millisecond, 2))
		g.lost()
		g.Advance(700 * time.Millisecond) // of the offer's second nearly all is over
		standing := g.restore(image)
		g.wantSlot(g.sync().Slots[0], admission.Offer, standing.Now.Add(time.Second))
	},
	"Restore_MergesWhatEachReplicaKnows": func(g *gate) {
		g.begun(nil)
		g.join(3)
		first := g.image(g.sync(3))
		g.release(2)
		second := first
		g.replica = "r2"
		second = g.image(g.sync(3))
		for _, order := range [][]admission.Image{{first, second}, {second, first}, {second, first, second}} {
			g.lost()
			for _, image := range order {
				g.restore(image)
			}
			snapshot := g.sync()
			g.wantTickets("leases", holders(snapshot, admission.Lease), 1)
			g.wantTickets("ended", members(snapshot.Ended), 2)
			g.wantTickets("waiting", members(snapshot.Waiting), 3)
		}
	},
	"Restore_KeepsNoPlaceOfThoseWhoHaveEnded": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(130)
		before := g.image(g.sync())
		for t := range admission.Ticket(127) {
			g.release(1 + t)
		}
		g.replica = "r2"
		after := g.image(g.sync())
		g.lost()
		g.restore(before)
		g.restore(after)
		if base := g.pass(1500*time.Millisecond, run(128, 130)...).Base; base != 128 {
			g.Fatalf("base %d", base)
		}
	},
	"Restore_WhatOneHasSeenEndStaysEndedWhateverTheOthersKnow": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Keep = time.Second })
		g.join(200)
		older := g.image(g.sync())
		for _, t := range run(1, 199) {
			g.release(t)
		}
		g.pass(3*time.Second, 200)
		g.replica = "r2" // which is told everything
		later := g.image(g.sync(200))
		for _, order := range [][]admission.Image{{older, later}, {later, older}} {
			g.lost()
			for _, image := range order {
				g.restore(image)
			}
			snapshot := g.sync()
			g.wantTickets("waiting", members(snapshot.Waiting))
			g.wantTickets("slots", holders(snapshot, admission.Offer), 200)
			if snapshot.Base != 192 {
				g.Fatalf("base %d", snapshot.Base)
			}
		}
	},
	"Restore_AClockThatWasSetPutsOffSlots": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		g.join(1)
		image := g.image(g.sync(1))
		mode := admission.ModeOn
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Mode: &mode})
		must(g, 0, err)
		image.Now = g.now().Add(-500 * time.Millisecond) // no more than a call that was late
		g.restore(image)
		if snapshot := g.sync(); !snapshot.Gives.IsZero() {
			g.Fatalf("snapshot %+v", snapshot)
		}
		image = g.image(g.sync(1))
		image.Now = g.now().Add(-time.Minute)
		standing := g.restore(image)
		if snapshot := g.sync(); !snapshot.Gives.Equal(standing.Now.Add(2500 * time.Millisecond)) {
			g.Fatalf("snapshot %+v", snapshot)
		}
	},
	"Restore_OfNothingIsLost": func(g *gate) {
		_, err := g.Store.Restore(g.Context(), admission.Image{Replica: "r1"})
		g.wantLost(err)
	},
	"Restore_OfTwoRoundsTheLaterStands": func(g *gate) {
		g.begun(nil)
		g.join(3)
		g.claim(1)
		older := g.image(g.sync(3))
		standing, err := g.Store.Reset(g.Context(), admission.Seen{}, "two")
		must(g, standing, err)
		g.join(2)
		later := g.image(g.sync())
		for _, order := range [][]admission.Image{{older, later}, {later, older}} {
			g.lost()
			for _, image := range order {
				g.restore(image)
			}
			snapshot := g.sync()
			g.wantTickets("waiting", members(snapshot.Waiting), 64, 65)
			g.wantTickets("leases", holders(snapshot, admission.Lease), 1, 2)
			if snapshot.Round != "two" || snapshot.Base != 64 {
				g.Fatalf("snapshot %+v", snapshot)
			}
		}
	},
	"Vouch_RaisesTheTailAndGivesALeaseBack": func(g *gate) {
		g.begun(nil)
		g.join(3)
		image := g.image(g.sync(3))
		image.Slots = image.Slots[:1]
		g.lost()
		restored := g.restore(image)
		pass := admission.Proof{Round: "one", Ticket: 2, Pass: true, Start: restored.Now.Add(-time.Second), Expires: restored.Now.Add(time.Second)}
		g.wantSlot(g.vouch(pass), admission.Lease, restored.Now.Add(1250*time.Millisecond))
		pass.Ticket = 3
		g.wantSlot(g.vouch(pass), admission.NoSlot, time.Time{}) // the gate is full
		g.vouch(admission.Proof{Round: "one", Ticket: 200})
		if snapshot := g.sync(200); snapshot.Tail != 200 || !snapshot.Waiting.Has(200) {
			g.Fatalf("snapshot %+v", snapshot)
		}
		g.pass(3 * time.Second)
		pass.Ticket, pass.Expires = 2, g.now().Add(time.Second)
		g.wantSlot(g.vouch(pass), admission.NoSlot, time.Time{}) // no lease can be unknown any more
	},
	"Vouch_AForeignPassPutsOffSlots": func(g *gate) {
		standing := g.begun(nil)
		g.vouch(admission.Proof{Round: "lost", Ticket: 7, Pass: true, Expires: standing.Now.Add(time.Second)})
		if joined := g.join(1); joined.N != 1 || joined.Leased != 0 {
			g.Fatalf("joined %+v", joined)
		}
		g.wantTickets("offers", holders(g.pass(2400*time.Millisecond, 1), admission.Offer))
		g.wantTickets("offers", holders(g.pass(100*time.Millisecond, 1), admission.Offer), 1)
	},
}

// image is what a replica with this snapshot, its first, puts in.
func (g *gate) image(s admission.Snapshot) admission.Image {
	return admission.Image{
		Seen:    admission.Seen{Run: s.Run, Seq: s.Seq},
		Replica: g.replica, AsOf: s.Now, Round: s.Round, File: s.Rules, Rules: s.Rules,
		Tail: s.Tail, Spare: 100, Base: s.Base, Waiting: s.Waiting, Slots: s.Slots, Ended: s.Ended, Missed: s.Missed,
		Admitted: s.Admitted, SoldOut: s.SoldOut,
	}
}

// lost has the store forget everything; a moment later it is another incarnation.
func (g *gate) lost() {
	g.Lose()
	g.Advance(time.Millisecond)
	clear(g.since)
}

func (g *gate) restore(image admission.Image) admission.Standing {
	standing, err := g.Store.Restore(g.Context(), image)
	return must(g, standing, err)
}

func (g *gate) vouch(proof admission.Proof) admission.Slot {
	claimed, err := g.Store.Vouch(g.Context(), admission.Seen{}, proof)
	return must(g, claimed, err).Slot
}
