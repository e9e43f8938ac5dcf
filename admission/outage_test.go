package admission_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
)

// cut is a gate with one replica, one visitor inside and one waiting, whose store does not answer any more.
func cut(t *testing.T, policy admission.OnStoreError, test func(g *gate, inside, waits *visitor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		g.add(admission.RoomSettings{Rules: rules(1), OnStoreError: policy})
		inside, waits := g.visitor(), g.visitor()
		inside.visit()
		waits.visit()
		g.ticks(1)
		inside.visit()
		g.store.down.Store(true)
		g.ticks(2)
		test(g, inside, waits)
	})
}

func TestOutage_HoldKeepsThoseInsideToTheEndOfTheirPass(t *testing.T) {
	cut(t, admission.Hold, func(g *gate, inside, waits *visitor) {
		end := inside.visit().Status.SessionExpires
		polls := 0
		for time.Now().Before(end) {
			got := inside.visit()
			wants(t, "inside", got, admission.Admit, admission.StateAdmitted)
			if got.Token != "" || got.Status.SessionExpires.After(end) {
				t.Fatalf("extended without the store: %+v", got)
			}
			waiting := waits.poll()
			wants(t, "waiting", waiting, admission.Wait, admission.StateWaiting)
			if waiting.Status.Reason == "" || waiting.Status.Position != 1 {
				t.Fatalf("waiting: %+v", waiting.Status)
			}
			polls++
			time.Sleep(waiting.Status.PollAfter)
		}
		if polls > 7 {
			t.Errorf("%d polls in 150 s: the interval is not longer", polls)
		}
		wants(t, "after its pass", inside.visit(), admission.Wait, admission.StateWaiting)
		if got := g.visitor().visit(); got.Refusal != admission.RefusedStore {
			t.Errorf("a newcomer: %+v", got)
		}
		if info := g.rooms[0].Info(); info.Store != "down" {
			t.Errorf("store %q", info.Store)
		}

		time.Sleep(rules(1).Leeway) // by which the lease outlasts the pass
		g.store.down.Store(false)
		g.ticks(3)
		// Who idled out is the lowest in line again.
		wants(t, "two ticks after it is back", inside.poll(), admission.Wait, admission.StateOffered)
		wants(t, "claim", inside.visit(), admission.Admit, admission.StateAdmitted)
		if peak := g.store.peak.Load(); peak > 1 {
			t.Errorf("%d slots at once", peak)
		}
	})
}

func TestOutage_AnOfferIsNotHeldOutToWhoCannotClaimIt(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		inside.visit()
		waits.visit()
		inside.leave()
		g.ticks(4)
		wants(t, "before", waits.poll(), admission.Wait, admission.StateOffered)
		g.store.down.Store(true)
		g.ticks(2)
		for _, got := range []admission.Verdict{waits.poll(), waits.visit()} {
			wants(t, "cut off", got, admission.Wait, admission.StateWaiting)
			if got.Status.PollAfter < 20*time.Second || got.Status.Position != 1 {
				t.Errorf("cut off: %+v", got.Status)
			}
		}
		g.store.down.Store(false)
		g.ticks(2)
		wants(t, "claim", waits.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestOutage_OpenLetsEverybodyPass(t *testing.T) {
	cut(t, admission.Open, func(g *gate, _, waits *visitor) {
		wants(t, "waiting", waits.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "newcomer", g.visitor().visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestOutage_ClosedLetsNobodyPass(t *testing.T) {
	cut(t, admission.Closed, func(g *gate, inside, _ *visitor) {
		for _, v := range []*visitor{inside, g.visitor()} {
			if got := v.visit(); got.Outcome != admission.Refuse || got.Refusal != admission.RefusedStore {
				t.Errorf("%+v", got)
			}
		}
	})
}

func TestOutage_NoRequestWaitsOnADeadStore(t *testing.T) {
	cut(t, admission.Hold, func(g *gate, inside, waits *visitor) {
		start, calls := time.Now(), g.store.calls.Load()
		for range 100 {
			inside.visit()
			waits.visit()
			g.visitor().visit()
			waits.room.Claim(context.Background(), waits.tokens())
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("400 requests waited %v", took)
		}
		if made := g.store.calls.Load() - calls; made > 0 {
			t.Errorf("400 requests asked the dead store %d times", made)
		}
	})
}

func TestOutage_AReleaseIsMadeUpFor(t *testing.T) {
	cut(t, admission.Hold, func(g *gate, inside, waits *visitor) {
		inside.leave()
		if got := inside.room.Visit(context.Background(), inside.tokens(), false); got.Outcome == admission.Admit {
			t.Errorf("let in after leaving: %+v", got)
		}
		waits.poll()
		g.store.down.Store(false)
		g.ticks(6)
		wants(t, "next", waits.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestRun_ServesNothingBeforeTheFirstSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		g.store.down.Store(true)
		room := g.add(admission.RoomSettings{Rules: rules(1)})
		g.ticks(3)
		v := g.visitor()
		for _, got := range []admission.Verdict{v.visit(), v.poll(), room.Claim(t.Context(), nil), v.leave()} {
			if got.Outcome != admission.Refuse || got.Refusal != admission.RefusedStore {
				t.Errorf("%+v", got)
			}
		}
		select {
		case <-room.Ready():
			t.Error("ready without a store")
		default:
		}
		g.store.down.Store(false)
		g.ticks(2)
		<-room.Ready()
		wants(t, "then", v.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestLostReplies_GiveOneTicketOneLeaseOneRelease(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		g.store.lose.Store(1)
		a := g.visitor()
		if got := a.visit(); got.Ticket != 1 || got.Outcome != admission.Admit {
			t.Fatalf("join: %+v", got)
		}
		g.ticks(2)
		b := g.visitor()
		if got := b.visit(); got.Ticket != 2 {
			t.Fatalf("the lost reply of a Join has cost a ticket: %+v", got)
		}
		g.store.lose.Store(1)
		a.leave()
		g.ticks(5)
		g.store.lose.Store(1)
		wants(t, "claim", b.visit(), admission.Admit, admission.StateAdmitted)
		g.ticks(2)
		time.Sleep(time.Minute)
		g.store.lose.Store(1)
		got := b.visit()
		if got.Outcome != admission.Admit || got.Token == "" {
			t.Errorf("renew: %+v", got)
		}
		g.ticks(2)
		if info := g.rooms[0].Info(); info.Active != 1 || info.Tail != 2 || info.Admitted != 2 {
			t.Errorf("%+v", info)
		}
	})
}

func TestAdjust_ChangesWhatAnOutageMeans(t *testing.T) {
	cut(t, admission.Hold, func(g *gate, inside, waits *visitor) {
		wants(t, "hold", waits.visit(), admission.Wait, admission.StateWaiting)
		g.rooms[0].Adjust(32, admission.Open)
		wants(t, "open", waits.visit(), admission.Admit, admission.StateAdmitted)
		g.rooms[0].Adjust(32, admission.Closed)
		if got := inside.visit(); got.Outcome != admission.Refuse {
			t.Errorf("closed: a pass gets %+v", got)
		}
	})
}

func TestBusy_CountsTicketsWithARequestInFlight(t *testing.T) {
	inBubble(t, rules(2), 1, func(t *testing.T, g *gate) {
		ticket := g.visitor().visit().Ticket
		room := g.rooms[0]
		leave, ok := room.Enter(t.Context(), ticket)
		if !ok || room.Busy() != 1 {
			t.Fatalf("in flight: %v, %d busy", ok, room.Busy())
		}
		leave()
		if room.Busy() != 0 {
			t.Errorf("after it: %d busy", room.Busy())
		}
	})
}
