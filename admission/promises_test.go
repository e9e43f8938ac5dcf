package admission_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
)

func TestPosition_NeverRises(t *testing.T) {
	inBubble(t, rules(3), 2, func(t *testing.T, g *gate) {
		dice := rand.New(rand.NewPCG(1, 2))
		crowd := make([]*visitor, 60)
		next, shown := make([]time.Time, len(crowd)), make([]int, len(crowd))
		for i := range crowd {
			crowd[i] = g.visitor()
		}
		for g.rooms[0].Info().Admitted < 300 {
			for i, v := range crowd {
				if time.Now().Before(next[i]) {
					continue
				}
				v.room = g.rooms[dice.IntN(2)]
				got, roll := v.visit(), dice.IntN(40)
				next[i] = time.Now().Add(got.Status.PollAfter)
				if got.Status.State == admission.StateWaiting {
					if shown[i] > 0 && got.Status.Position > shown[i] {
						t.Fatalf("ticket %d was shown position %d, now %d", got.Ticket, shown[i], got.Status.Position)
					}
					shown[i] = got.Status.Position
				}
				switch inside := got.Outcome == admission.Admit; {
				case inside && roll < 20, roll == 0:
					v.leave()
					crowd[i], shown[i] = g.visitor(), 0
				case inside:
					shown[i] = 0
				case roll == 1: // sleeps, and comes back
					next[i] = next[i].Add(time.Duration(dice.IntN(60)) * time.Second)
				}
			}
			time.Sleep(admission.Tick)
		}
		if peak := g.store.peak.Load(); peak > 3 {
			t.Errorf("%d slots at once", peak)
		}
	})
}

func TestTokens_AreRenewedInALongWait(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		inside.visit()
		ticket := waits.visit().Ticket
		first := waits.token
		for start := time.Now(); time.Since(start) < 14*time.Minute; {
			inside.visit()
			got := waits.poll()
			if got.Ticket != ticket || got.Outcome != admission.Wait {
				t.Fatalf("%+v", got)
			}
			time.Sleep(got.Status.PollAfter)
		}
		if waits.token == first {
			t.Error("after 14 minutes the token is still the first")
		}
	})
}

func TestTokens_AnExpiredOneKeepsItsPlaceForAsLongAsPlacesAreKept(t *testing.T) {
	var rejected atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		r := rules(1)
		r.Keep = 30 * time.Minute
		g.add(admission.RoomSettings{Rules: r, Observer: admission.Observer{
			Rejected: func(admission.Rejection) { rejected.Add(1) },
		}})
		g.visitor().visit()
		waits := g.visitor()
		first := waits.visit()
		time.Sleep(25 * time.Minute)
		if got := waits.visit(); got.Ticket != first.Ticket {
			t.Errorf("after 25 minutes of silence: %+v", got)
		}
		time.Sleep(50 * time.Minute)
		for _, got := range []admission.Verdict{
			waits.poll(), waits.room.Claim(t.Context(), waits.tokens()), waits.leave(),
		} {
			if got.Refusal != admission.RefusedNoTicket || got.Token != "" {
				t.Errorf("after 50 minutes more: %+v", got)
			}
		}
		if got, ok := waits.room.Identify(waits.tokens()); !ok || got.Visitor != first.Visitor || got.Outcome == admission.Admit {
			t.Errorf("it does not say any more who it is: %+v", got)
		}
		if got := waits.visit(); got.Ticket == first.Ticket || got.Visitor != first.Visitor {
			t.Errorf("joins anew: %+v", got)
		}
		if rejected.Load() == 0 {
			t.Error("nothing is counted")
		}
	})
}

func TestTokens_OfAnotherGateOrForgedAreNobodys(t *testing.T) {
	inBubble(t, rules(5), 1, func(t *testing.T, g *gate) {
		v := g.visitor()
		mine := v.visit()
		foreign := admission.NewVerifier("semifinal", g.keys, time.Second, time.Now)
		token := admission.Token{
			Use: admission.UsePass, Visitor: "x", Round: g.rooms[0].Info().Round, Ticket: mine.Ticket,
			Issued: time.Now(), Expires: time.Now().Add(time.Hour),
		}
		other, err := foreign.Sign(token)
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("b"), 32)})
		if err != nil {
			t.Fatal(err)
		}
		fake, err := admission.NewVerifier("final", stranger, time.Second, time.Now).Sign(token)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{other, fake, "", "garbage"} {
			list := []string{raw}
			if got := v.room.Visit(t.Context(), list, false); got.Outcome == admission.Admit || got.Token != "" {
				t.Errorf("visit: %+v", got)
			}
			for _, got := range []admission.Verdict{
				v.room.Status(t.Context(), list), v.room.Claim(t.Context(), list), v.room.Leave(t.Context(), list),
			} {
				if got.Refusal != admission.RefusedNoTicket || got.Token != "" {
					t.Errorf("%+v", got)
				}
			}
			if _, ok := v.room.Identify(list); ok {
				t.Error("identified")
			}
		}
		wants(t, "the first that verifies counts", v.room.Visit(t.Context(), []string{fake, other, v.token}, false),
			admission.Admit, admission.StateAdmitted)
	})
}

func TestKeys_RotateWithoutALostPlace(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		inside, waits := g.visitor(), g.visitor()
		in, out := inside.visit().Ticket, waits.visit().Ticket
		if err := g.keys.Replace(
			admission.Key{ID: "b", Secret: bytes.Repeat([]byte("b"), 32)},
			admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), 32)},
		); err != nil {
			t.Fatal(err)
		}
		g.ticks(1)
		if got := inside.visit(); got.Ticket != in || got.Outcome != admission.Admit {
			t.Errorf("inside: %+v", got)
		}
		if got := waits.visit(); got.Ticket != out {
			t.Errorf("waiting: %+v", got)
		}
	})
}

func TestClock_OfAReplicaDoesNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		var step atomic.Int64 // of the second replica's clock
		for _, off := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
			g.add(admission.RoomSettings{Rules: rules(2), Now: func() time.Time {
				return time.Now().Add(off + time.Duration(step.Load())).Round(0)
			}})
		}
		var inside []*visitor
		var tickets []admission.Ticket
		for i := range 2 {
			v := g.visitor()
			v.room = g.rooms[i]
			inside, tickets = append(inside, v), append(tickets, v.visit().Ticket)
			g.ticks(1)
		}
		waits := g.visitor()
		for i := range 60 { // ten minutes
			time.Sleep(10 * time.Second)
			for j, v := range inside {
				v.room = g.rooms[(i+j)%2]
				if got := v.visit(); got.Outcome != admission.Admit || got.Ticket != tickets[j] {
					t.Fatalf("after %d s: %+v", 10*i, got)
				}
			}
			wants(t, "the third", waits.visit(), admission.Wait, admission.StateWaiting)
			if i == 30 {
				step.Store(int64(-time.Minute))
				g.ticks(2)
			}
		}
		if peak := g.store.peak.Load(); peak > 2 {
			t.Errorf("%d slots at once", peak)
		}
	})
}

func TestOffer_LapsesToTheNextWhoIsLive(t *testing.T) {
	quick := rules(5)
	quick.Claim, quick.Leeway = time.Second, 250*time.Millisecond
	inBubble(t, quick, 1, func(t *testing.T, g *gate) {
		for range 3 {
			for range 25 {
				g.visitor().visit() // and never come back
			}
			live := g.visitor()
			start := time.Now()
			for {
				got := live.visit()
				if got.Outcome == admission.Admit {
					break
				}
				time.Sleep(got.Status.PollAfter)
			}
			// Those in front are live for two windows, and each five of them cost a claim time.
			if took := time.Since(start); took > 2*quick.NearWindow()+5*(quick.Claim+2*admission.Tick)+quick.PollMin*115/100 {
				t.Errorf("in after %v", took)
			}
			live.leave()
		}
	})
}

func TestVisit_OneFreeSlotLetsOneIn(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		var in atomic.Int32
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				if g.rooms[i%2].Visit(context.Background(), nil, true).Outcome == admission.Admit {
					in.Add(1)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 {
			t.Errorf("%d are in", in.Load())
		}
	})
}
