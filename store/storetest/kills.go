package storetest

import (
	"fmt"
	"time"

	"foyer/admission"
)

// kills is that nothing depends on a replica which is no more.
var kills = map[string]func(*gate){
	"Kill_BetweenAnyTwoCommandsLocksNothing": func(g *gate) {
		g.begun(func(r *admission.Rules) { r.Capacity = 1 })
		commands := []func(first admission.Ticket){
			func(admission.Ticket) { g.sync() },
			func(first admission.Ticket) { g.claim(first) },
			func(first admission.Ticket) {
				g.syncAs(admission.Sync{Busy: []admission.Ticket{first}, Near: set(first + 1)})
			},
			func(first admission.Ticket) { g.renew(first, g.now().Add(2*time.Second)) },
			func(first admission.Ticket) { g.release(first) },
			func(first admission.Ticket) { g.sync(first + 1) },
		}
		for died := range len(commands) + 1 {
			g.replica = "r1"
			first := g.join(2).First
			for _, command := range commands[:died] {
				command(first)
			}
			g.replica = "r2" // the other goes on, and hears of those who wait
			snapshot := g.sync(first + 1)
			for _, slot := range snapshot.Slots {
				if left := slot.Expires.Sub(snapshot.Now); left <= 0 || left > snapshot.Rules.LeaseLife() {
					g.Fatalf("killed after %d commands: a slot lasts for %v", died, left)
				}
			}
			free := snapshot.Now.Add(admission.Tick)
			if len(snapshot.Slots) > 0 && snapshot.Slots[0].Ticket == first {
				free = snapshot.Slots[0].Expires.Add(admission.Tick)
			}
			for g.now().Before(free) {
				snapshot = g.pass(admission.Tick, first+1)
			}
			g.wantTickets(fmt.Sprintf("offers, killed after %d commands", died), holders(snapshot, admission.Offer), first+1)
			g.release(first)
			g.release(first + 1)
			g.pass(400 * time.Millisecond)
		}
	},
}
