package storetest

import (
	"time"

	"foyer/admission"
)

// rounds is how a line begins, is set, and begins anew.
var rounds = map[string]func(*gate){
	"Begin_KeepsTheLineThatStands": func(g *gate) {
		first := g.begun(nil)
		g.join(3)
		rules := Rules()
		rules.Capacity = 7
		standing, err := g.Store.Begin(g.Context(), "two", rules)
		must(g, standing, err)
		if standing.Round != "one" || standing.Run != first.Run || standing.Seq <= first.Seq {
			g.Fatalf("begun %+v, then %+v", first, standing)
		}
		if snapshot := g.sync(); snapshot.Tail != 3 || snapshot.Rules.Capacity != 2 {
			g.Fatalf("snapshot %+v", snapshot)
		}
	},
	"Configure_KeepsWhatWasChangedAtRunTime": func(g *gate) {
		g.begun(nil)
		five, paused := 5, admission.ModePaused
		_, err := g.Store.Change(g.Context(), admission.Seen{}, admission.Change{Capacity: &five, Mode: &paused})
		must(g, 0, err)
		rules := Rules()
		_, err = g.Store.Configure(g.Context(), admission.Seen{}, rules) // a restart with the same file
		must(g, 0, err)
		if got := g.sync().Rules; got.Capacity != 5 || got.Mode != admission.ModePaused {
			g.Fatalf("rules %+v after a restart", got)
		}
		rules.Capacity, rules.Keep = 9, time.Hour
		rules.OpensAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		_, err = g.Store.Configure(g.Context(), admission.Seen{}, rules)
		must(g, 0, err)
		rules.Mode = paused
		if got := g.sync().Rules; got != rules {
			g.Fatalf("rules %+v, want %+v", got, rules)
		}
	},
	"Reset_EndsTheLineAndKeepsThoseInside": func(g *gate) {
		g.begun(nil)
		g.join(5)
		g.claim(1)
		g.release(2)
		g.pass(200*time.Millisecond, 3, 4, 5)
		g.wantTickets("offers", holders(g.sync(), admission.Offer), 3)
		standing, err := g.Store.Reset(g.Context(), admission.Seen{}, "two")
		must(g, standing, err)
		again, err := g.Store.Reset(g.Context(), admission.Seen{}, "two")
		if must(g, again, err).Seq != standing.Seq || standing.Round != "two" {
			g.Fatalf("reset %+v, then %+v", standing, again)
		}
		snapshot := g.sync(3, 4, 5)
		g.wantTickets("leases", holders(snapshot, admission.Lease), 1)
		g.wantTickets("offers", holders(snapshot, admission.Offer))
		g.wantTickets("waiting", members(snapshot.Waiting))
		if !snapshot.EndedAll || snapshot.Base != 64 || snapshot.Admitted != 0 {
			g.Fatalf("snapshot %+v", snapshot)
		}
		if joined := g.join(2); joined.First != 64 || joined.Leased != 1 {
			g.Fatalf("joined %+v: numbers go on", joined)
		}
		g.wantSlot(g.renew(1, g.now().Add(5*time.Second)), admission.Lease, g.now().Add(5*time.Second))
		g.release(1)
		g.pass(200 * time.Millisecond)
		g.wantTickets("slots", holders(g.sync(65), admission.Offer), 65)
	},
}
