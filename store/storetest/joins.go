package storetest

import (
	"time"

	"foyer/admission"
)

// joins is how tickets are given out.
var joins = map[string]func(*gate){
	"Join_LeasesAtOnceWhileNobodyWaits": func(g *gate) {
		g.begun(nil)
		joined := g.join(3)
		if joined.First != 1 || joined.N != 3 || joined.Leased != 2 || !joined.Expires.Equal(joined.Now.Add(time.Second)) {
			g.Fatalf("joined %+v", joined)
		}
		snapshot := g.sync()
		g.wantTickets("leases", holders(snapshot, admission.Lease), 1, 2)
		g.wantTickets("waiting", members(snapshot.Waiting), 3)
		if snapshot.Slots[0].Confirmed || snapshot.Admitted != 2 || snapshot.Tail != 3 {
			g.Fatalf("snapshot %+v", snapshot)
		}
	},
	"Join_NeverPassesWhoWaits": func(g *gate) {
		g.begun(nil)
		g.join(3)
		g.sync()
		g.release(1)
		g.Advance(time.Second)
		if joined := g.join(1); joined.Leased != 0 {
			g.Fatalf("a newcomer was let in before ticket 3: %+v", joined)
		}
		g.wantTickets("offers", holders(g.sync(3, 4), admission.Offer), 3, 4)
	},
	"Join_RepeatedGivesTheSameTickets": func(g *gate) {
		g.begun(nil)
		first := g.joinAs(admission.Join{ID: "same", N: 5})
		g.join(1)
		g.Advance(59 * time.Second)
		again := g.joinAs(admission.Join{ID: "same", N: 5})
		if again.First != first.First || again.N != 5 || again.Leased != first.Leased || !again.Expires.Equal(first.Expires) {
			g.Fatalf("first %+v, again %+v", first, again)
		}
		if next := g.join(1); next.First != 7 {
			g.Fatalf("the next ticket is %d, want 7", next.First)
		}
	},
	"Join_GivesNoMoreThanMayWait": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.QueueMax = 3 })
		if joined := g.join(10); joined.N != 5 || joined.Leased != 2 || joined.Refusal != admission.RefusedFull {
			g.Fatalf("joined %+v", joined)
		}
		if joined := g.join(1); joined.N != 0 || joined.Refusal != admission.RefusedFull {
			g.Fatalf("joined %+v", joined)
		}
		g.pass(5 * time.Second) // nobody polls: nobody waits any more
		if joined := g.join(1); joined.N != 1 || joined.First != 6 {
			g.Fatalf("joined %+v", joined)
		}
	},
	"Join_LongRunIsLiveThroughout": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode, r.QueueMax = admission.ModePaused, 10_000 })
		g.join(5)
		g.joinAs(admission.Join{ID: "far", N: 3000, Family: admission.Far})
		g.join(2)
		snapshot := g.sync()
		if n := snapshot.Waiting.Count(); n != 3007 || snapshot.Waiting.CountBelow(3008) != 3007 || snapshot.Waiting.Has(0) {
			g.Fatalf("%d wait", n)
		}
	},
	"Join_BeforeTheOpeningWaits": func(g *gate) {
		standing := g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		opens := standing.Now.Add(time.Second)
		rules := Rules()
		rules.OpensAt, rules.ClosesAt = opens, opens.Add(time.Second)
		_, err := g.Store.Configure(g.Context(), admission.Seen{}, rules)
		must(g, 0, err)
		if joined := g.join(3); joined.N != 3 || joined.Leased != 0 {
			g.Fatalf("joined %+v", joined)
		}
		g.wantTickets("offers before", holders(g.pass(900*time.Millisecond, 1, 2, 3), admission.Offer))
		g.wantTickets("offers after", holders(g.pass(100*time.Millisecond, 1, 2, 3), admission.Offer), 1, 2)
		g.claim(1)
		g.Advance(time.Second)
		if joined := g.join(1); joined.N != 0 || joined.Refusal != admission.RefusedClosed {
			g.Fatalf("joined %+v after the closing", joined)
		}
		snapshot := g.sync(3)
		g.wantTickets("offers after the closing", holders(snapshot, admission.Offer))
		g.wantTickets("leases after the closing", holders(snapshot, admission.Lease), 1)
		g.wantSlot(g.renew(1, g.now().Add(2*time.Second)), admission.Lease, g.now().Add(2*time.Second))
	},
	"Join_PausedGivesTicketsAndNoSlots": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Mode = admission.ModePaused })
		if joined := g.join(2); joined.N != 2 || joined.Leased != 0 {
			g.Fatalf("joined %+v", joined)
		}
		g.wantTickets("slots", holders(g.sync(1, 2), admission.Offer))
		mode := admission.ModeOn
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Mode: &mode})
		must(g, 0, err)
		g.wantTickets("slots", holders(g.sync(1, 2), admission.Offer), 1, 2)
	},
}
