package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
)

func change(mode admission.Mode) admission.Change { return admission.Change{Mode: &mode} }

func TestModes_ActOnEveryReplicaAtOnce(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		inside.visit()
		waits.room = g.rooms[1]
		waits.visit()
		step := func(mode admission.Mode) {
			if err := g.rooms[0].Change(t.Context(), change(mode)); err != nil {
				t.Fatal(err)
			}
			g.ticks(2)
		}
		step(admission.ModePaused)
		inside.leave()
		g.ticks(5)
		got := waits.visit()
		wants(t, "paused", got, admission.Wait, admission.StatePaused)
		if got.Status.Reason == "" || got.Status.Position != 1 {
			t.Errorf("paused: %+v", got.Status)
		}
		newcomer := g.visitor()
		if got := newcomer.visit(); got.Ticket == 0 || got.Status.Position != 2 {
			t.Errorf("paused, a newcomer: %+v", got)
		}

		step(admission.ModeShadow)
		if got := newcomer.visit(); got.Outcome != admission.Admit || got.Ticket == 0 {
			t.Errorf("shadow: %+v", got)
		}
		wants(t, "shadow, poll", newcomer.poll(), admission.Wait, admission.StateWaiting)
		if got := g.visitor().visit(); got.Outcome != admission.Admit || got.Ticket == 0 || got.Token == "" {
			t.Errorf("shadow, a newcomer: %+v", got)
		}

		step(admission.ModeOff)
		if got := g.visitor().visit(); got.Outcome != admission.Admit || got.Ticket != 0 || got.Token != "" {
			t.Errorf("off: %+v", got)
		}

		step(admission.ModeOn)
		wants(t, "on again", waits.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "on again, newcomer", newcomer.visit(), admission.Wait, admission.StateWaiting)
	})
}

func TestLobby_KeepsTheOrderOfArrivalUntilTheOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		r := rules(1)
		r.OpensAt, r.ClosesAt = time.Now().Add(10*time.Minute), time.Now().Add(20*time.Minute)
		g.add(admission.RoomSettings{Rules: r})
		a, b := g.visitor(), g.visitor()
		early := a.visit()
		b.visit()
		wants(t, "before", early, admission.Wait, admission.StateLobby)
		if !early.Status.OpensAt.Equal(r.OpensAt) || early.Status.Position != 1 {
			t.Errorf("lobby: %+v", early.Status)
		}
		var last time.Duration
		for {
			last = a.poll().Status.PollAfter
			got := b.poll()
			last = min(last, got.Status.PollAfter)
			if time.Until(r.OpensAt) <= last {
				break
			}
			wants(t, "lobby", got, admission.Wait, admission.StateLobby)
			time.Sleep(last)
		}
		if last > 3*time.Second {
			t.Errorf("shortly before the opening the first in line are told to come back in %v", last)
		}
		time.Sleep(time.Until(r.OpensAt))
		g.ticks(2)
		wants(t, "opening, first", a.poll(), admission.Wait, admission.StateOffered)
		wants(t, "opening, first", a.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "opening, second", b.visit(), admission.Wait, admission.StateWaiting)

		for time.Now().Before(r.ClosesAt) {
			time.Sleep(20 * time.Second)
			a.visit()
			b.poll()
		}
		wants(t, "closed, inside", a.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "closed, waiting", b.poll(), admission.Wait, admission.StateClosed)
		for _, v := range []*visitor{b, g.visitor()} {
			if got := v.visit(); got.Outcome != admission.Refuse || got.Refusal != admission.RefusedClosed || got.Token != "" {
				t.Errorf("closed: %+v", got)
			}
		}
	})
}

func TestVisit_RefusesWhenTheLineIsFull(t *testing.T) {
	small := rules(1)
	small.QueueMax = 3
	inBubble(t, small, 1, func(t *testing.T, g *gate) {
		for range 4 {
			if got := g.visitor().visit(); got.Ticket == 0 {
				t.Fatalf("refused: %+v", got)
			}
		}
		for range 2 { // by the store, then by the view
			got := g.visitor().visit()
			if got.Refusal != admission.RefusedFull || got.Status.State != admission.StateFull || got.Token != "" {
				t.Errorf("full: %+v", got)
			}
			g.ticks(2)
		}
	})
}

func TestSoldOut_TellsEverybodyWhoWaits(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		inside.visit()
		waits.visit()
		g.rooms[0].SoldOut(0)
		wants(t, "inside", inside.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "poll", waits.poll(), admission.Wait, admission.StateSoldOut)
		if got := waits.visit(); got.Refusal != admission.RefusedSoldOut {
			t.Errorf("visit: %+v", got)
		}
		if got := g.visitor().visit(); got.Refusal != admission.RefusedSoldOut || got.Ticket != 0 {
			t.Errorf("a newcomer: %+v", got)
		}
		g.rooms[0].SoldOut(3)
		if got := waits.visit(); got.Outcome != admission.Wait || got.Status.Position != 1 {
			t.Errorf("back in stock: %+v", got)
		}
	})
}

func TestReset_KeepsThoseInsideAndLetsTheOthersStartAgain(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		inside.room = g.rooms[1]
		ticket := inside.visit().Ticket
		g.ticks(1)
		inside.visit()
		old := waits.visit()
		if err := g.rooms[0].Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.ticks(2)
		for range 10 { // its pass is renewed although its round is over
			time.Sleep(40 * time.Second)
			if got := inside.visit(); got.Outcome != admission.Admit || got.Ticket != ticket {
				t.Fatalf("inside: %+v", got)
			}
		}
		wants(t, "old ticket", waits.poll(), admission.Wait, admission.StateEnded)
		again := waits.visit()
		if again.Ticket <= old.Ticket || again.Visitor != old.Visitor || again.Status.Position != 1 {
			t.Errorf("old %+v, again %+v", old, again)
		}
		inside.leave()
		g.ticks(4)
		if got := inside.room.Visit(t.Context(), inside.tokens(), false); got.Outcome == admission.Admit {
			t.Errorf("let in after leaving: %+v", got)
		}
		wants(t, "next", waits.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestChange_ALowerCapacityThrowsNobodyOut(t *testing.T) {
	inBubble(t, rules(8), 1, func(t *testing.T, g *gate) {
		var inside []*visitor
		for range 8 {
			v := g.visitor()
			v.visit()
			inside = append(inside, v)
		}
		waits := g.visitor()
		waits.visit()
		g.ticks(1)
		five := 5
		if err := g.rooms[0].Change(t.Context(), admission.Change{Capacity: &five}); err != nil {
			t.Fatal(err)
		}
		for left := 8; left >= 5; left-- {
			g.ticks(5)
			for _, v := range inside[:left] {
				wants(t, "inside", v.visit(), admission.Admit, admission.StateAdmitted)
			}
			wants(t, "waiting", waits.poll(), admission.Wait, admission.StateWaiting)
			inside[left-1].leave()
		}
		g.ticks(5)
		wants(t, "below the new capacity", waits.visit(), admission.Admit, admission.StateAdmitted)
	})
}
