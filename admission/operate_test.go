package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
)

// An operator may mistype a ticket: whoever gets that number later must not be turned away for it.
func TestRelease_OfATicketNotYetGivenOutHasNoEffect(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		if err := g.rooms[0].Release(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		g.visitor().visit()
		second := g.visitor()
		wants(t, "the second visitor", second.visit(), admission.Wait, admission.StateWaiting)
		g.ticks(1)
		if again := second.visit(); again.Ticket != 2 {
			t.Errorf("ticket %d after ticket 2: it was ended before it was given out", again.Ticket)
		}
	})
}

func TestSettled_InfoShowsWhatWasDone(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		room, capacity := g.rooms[0], 7
		for range 20 {
			capacity++
			if err := room.Change(t.Context(), admission.Change{Capacity: &capacity}); err != nil {
				t.Fatal(err)
			}
			before, asked := room.Info().Round, time.Now()
			if err := room.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			room.Settled(t.Context())
			if info := room.Info(); info.Capacity != capacity || info.Round == before {
				t.Fatalf("capacity %d, want %d; round %s after %s", info.Capacity, capacity, info.Round, before)
			}
			if took := time.Since(asked); took > 3*admission.Tick {
				t.Errorf("it took %v to be shown", took)
			}
			time.Sleep(17 * time.Millisecond) // at another moment between two ticks
		}
		g.store.down.Store(true)
		asked := time.Now()
		room.Settled(t.Context())
		if took := time.Since(asked); took > time.Second {
			t.Errorf("it waited %v for a store that is away", took)
		}
	})
}

func TestEta_IsUnknownForTheFirstWhoWaits(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		g.visitor().visit()
		if v := g.visitor().visit(); v.Status.Eta != nil {
			t.Errorf("nobody has left yet, and the second visitor is told %+v", *v.Status.Eta)
		}
	})
}

func TestOffered_IsNotCountedAmongThoseWhoWait(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		first, second := g.visitor(), g.visitor()
		first.visit()
		second.visit()
		g.ticks(1)
		first.leave()
		g.ticks(4)
		if v := second.poll(); v.Status.State != admission.StateOffered || v.Status.Waiting != 0 {
			t.Errorf("nobody waits, and whoever has the offer is told %+v", v.Status)
		}
	})
}

// A balancer sends the poll that shows the offer to one replica, and the claim to another that has not heard of it.
func TestClaim_OfAnOfferThatAnotherReplicaHasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		g.add(admission.RoomSettings{Rules: rules(1)})
		time.Sleep(admission.Tick / 2) // the replicas do not tick together
		g.add(admission.RoomSettings{Rules: rules(1)})
		g.ticks(2)
		inside, next := g.visitor(), g.visitor()
		inside.visit()
		for i := range 10 {
			next.visit()
			time.Sleep(time.Duration(i) * 13 * time.Millisecond)
			inside.leave()
			for shown := -1; shown < 0; time.Sleep(time.Millisecond) {
				for at, room := range g.rooms {
					next.room = room
					if next.poll().Status.State == admission.StateOffered {
						shown = at
						break
					}
				}
				if shown >= 0 {
					other := g.rooms[1-shown]
					wants(t, "at the other replica", next.jar(other.Claim(t.Context(), next.tokens())), admission.Admit, admission.StateAdmitted)
				}
			}
			inside, next = next, g.visitor()
		}
	})
}

func TestModeOff_SaysWhenItWasSo(t *testing.T) {
	off := rules(1)
	off.Mode = admission.ModeOff
	inBubble(t, off, 1, func(t *testing.T, g *gate) {
		if v := g.visitor().visit(); v.Status.AsOf.IsZero() || v.Status.PollAfter != off.PollMin {
			t.Errorf("status %+v", v.Status)
		}
	})
}
