package admission_test

import (
	"testing"

	"foyer/admission"
)

func TestSoldOut_IsHeardByEveryReplicaWithinTwoTicks(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		waits.room = g.rooms[1]
		inside.visit()
		g.ticks(1)
		waits.visit()
		for range 2 {
			g.rooms[0].SoldOut(0)
			g.ticks(2)
			wants(t, "poll at the other replica", waits.poll(), admission.Wait, admission.StateSoldOut)
			if got := waits.visit(); got.Refusal != admission.RefusedSoldOut {
				t.Errorf("visit at the other replica: %+v", got)
			}
			wants(t, "inside", inside.visit(), admission.Admit, admission.StateAdmitted)
			g.rooms[0].SoldOut(3)
			g.ticks(2)
			wants(t, "something is left", waits.poll(), admission.Wait, admission.StateWaiting)
			if got := waits.visit(); got.Outcome != admission.Wait || got.Status.Position != 1 {
				t.Errorf("back in stock: %+v", got)
			}
		}
	})
}

func TestSoldOut_HeardWhileTheStoreIsAwayIsToldLater(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		g.visitor().visit()
		g.ticks(1)
		waits := g.visitor()
		waits.visit()
		g.store.down.Store(true)
		g.ticks(2)
		g.rooms[0].SoldOut(0)
		g.ticks(2)
		wants(t, "here", waits.poll(), admission.Wait, admission.StateSoldOut)
		waits.room = g.rooms[1]
		wants(t, "elsewhere", waits.poll(), admission.Wait, admission.StateWaiting)
		g.store.down.Store(false)
		g.ticks(3)
		wants(t, "elsewhere, later", waits.poll(), admission.Wait, admission.StateSoldOut)
	})
}

func TestSoldOut_IsForgottenByAReset(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		g.rooms[0].SoldOut(0)
		g.ticks(1)
		if got := g.visitor().visit(); got.Refusal != admission.RefusedSoldOut || !g.rooms[0].Info().SoldOut {
			t.Errorf("sold out: %+v", got)
		}
		if err := g.rooms[0].Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.ticks(1)
		wants(t, "after the reset", g.visitor().visit(), admission.Admit, admission.StateAdmitted)
	})
}
