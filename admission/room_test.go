package admission_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
)

func TestVisit_AdmitsUpToCapacityAndQueuesTheRest(t *testing.T) {
	inBubble(t, rules(2), 1, func(t *testing.T, g *gate) {
		a, b, c, d := g.visitor(), g.visitor(), g.visitor(), g.visitor()
		wants(t, "first", a.visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "second", b.visit(), admission.Admit, admission.StateAdmitted)
		third, fourth := c.visit(), d.visit()
		wants(t, "third", third, admission.Wait, admission.StateWaiting)
		wants(t, "fourth", fourth, admission.Wait, admission.StateWaiting)
		if third.Status.Position != 1 || fourth.Status.Position != 2 || fourth.Ticket != 4 {
			t.Errorf("third stands at %d, fourth at %d with ticket %d; want 1, 2 and 4",
				third.Status.Position, fourth.Status.Position, fourth.Ticket)
		}
		if third.Token == "" || third.Visitor == "" || third.Until.IsZero() {
			t.Errorf("a new visitor is given %+v", third)
		}
	})
}

func TestVisit_ClaimsAFreedSlotInTheSameRequest(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		a, b := g.visitor(), g.visitor()
		b.room = g.rooms[1]
		a.visit()
		g.ticks(1)
		wants(t, "second", b.visit(), admission.Wait, admission.StateWaiting)
		a.leave()
		g.ticks(4)
		offered := b.poll()
		wants(t, "poll", offered, admission.Wait, admission.StateOffered)
		if offered.Status.Position != 0 || offered.Status.OfferExpires.IsZero() {
			t.Errorf("offered: %+v", offered.Status)
		}
		entered := b.visit()
		wants(t, "visit", entered, admission.Admit, admission.StateAdmitted)
		if entered.Token == "" {
			t.Error("no pass is set")
		}
		if got := b.visit(); got.Outcome != admission.Admit || got.Token != "" {
			t.Errorf("the pass does not let in as it is: %+v", got)
		}
	})
}

func TestVisit_OneTokenIsOneTicket(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		g.visitor().visit()
		first := g.visitor()
		want := first.visit().Ticket
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 50 {
					copied := visitor{g: g, room: first.room, token: first.token}
					if got := copied.visit(); got.Ticket != want || got.Status.Position != 1 {
						t.Errorf("ticket %d at %d, want %d at 1", got.Ticket, got.Status.Position, want)
					}
				}
			})
		}
		wg.Wait()
		g.ticks(2)
		if info := g.rooms[0].Info(); info.Waiting != 1 || info.Tail != want {
			t.Errorf("%d wait, the tail is %d; want 1 and %d", info.Waiting, info.Tail, want)
		}
	})
}

func TestVisit_ABurstSharesOneJoinInOrder(t *testing.T) {
	inBubble(t, rules(2), 1, func(t *testing.T, g *gate) {
		before := g.store.calls.Load()
		got := make([]admission.Verdict, 100)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = g.visitor().visit() })
		}
		wg.Wait()
		seen, inside := map[admission.Ticket]bool{}, 0
		for _, v := range got {
			seen[v.Ticket] = true
			if v.Outcome == admission.Admit {
				inside++
			} else if want := int(v.Ticket) - 2; v.Status.Position != want {
				t.Errorf("ticket %d is shown position %d, want %d", v.Ticket, v.Status.Position, want)
			}
		}
		if len(seen) != 100 || inside != 2 {
			t.Errorf("%d tickets, %d inside; want 100 and 2", len(seen), inside)
		}
		if calls := g.store.calls.Load() - before; calls > 3 {
			t.Errorf("100 arrivals cost %d calls of the store", calls)
		}
	})
}

func TestStatus_AsksNoStoreAndNeverJoins(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		g.visitor().visit()
		waiting := g.visitor()
		waiting.visit()
		before := g.store.calls.Load()
		for range 1000 {
			waiting.poll()
		}
		if calls := g.store.calls.Load() - before; calls != 0 {
			t.Errorf("1,000 polls cost %d calls", calls)
		}
		if got := g.visitor().poll(); got.Outcome != admission.Refuse || got.Refusal != admission.RefusedNoTicket || got.Token != "" {
			t.Errorf("a poll without a ticket: %+v", got)
		}
	})
}

func TestRelease_EndsThePassOnEveryReplica(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		a, b := g.visitor(), g.visitor()
		ticket := a.visit().Ticket
		pass := a.token
		b.visit()
		g.ticks(1)
		if err := g.rooms[0].Release(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
		here := visitor{g: g, room: g.rooms[0], token: pass}
		if got := here.room.Visit(t.Context(), here.tokens(), false); got.Outcome != admission.Refuse {
			t.Errorf("the replica that released goes on: %+v", got)
		}
		g.ticks(2)
		there := visitor{g: g, room: g.rooms[1], token: pass}
		if got := there.room.Visit(t.Context(), there.tokens(), false); got.Outcome != admission.Refuse {
			t.Errorf("the other replica goes on: %+v", got)
		}
		g.ticks(2)
		wants(t, "next", b.visit(), admission.Admit, admission.StateAdmitted)
		if g.store.peak.Load() > 1 {
			t.Errorf("%d slots at once", g.store.peak.Load())
		}
	})
}

func TestVisit_AnEndedTicketJoinsAnewAsTheSameVisitor(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		a := g.visitor()
		first := a.visit()
		wants(t, "leave", a.leave(), admission.Wait, admission.StateEnded)
		wants(t, "leave again", a.leave(), admission.Wait, admission.StateEnded)
		wants(t, "status", a.poll(), admission.Wait, admission.StateEnded)
		again := a.visit()
		if again.Visitor != first.Visitor || again.Ticket == first.Ticket || again.Ticket == 0 {
			t.Errorf("first %q with %d, again %q with %d", first.Visitor, first.Ticket, again.Visitor, again.Ticket)
		}
	})
}

func TestVisit_RenewsAPassOnceAQuarterOfIdleIsOver(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		a, began := g.visitor(), time.Now()
		a.visit()
		g.ticks(1)
		if got := a.visit(); got.Token == "" {
			t.Error("the first request that shows the short pass is not given a long one")
		}
		for range 20 { // ten minutes
			time.Sleep(29 * time.Second)
			if got := a.visit(); got.Token != "" {
				t.Fatal("renewed before a quarter of idle was over")
			}
			time.Sleep(2 * time.Second)
			got := a.visit()
			if got.Outcome != admission.Admit || got.Token == "" {
				t.Fatalf("not renewed after a quarter of idle: %+v", got)
			}
			if left := time.Until(got.Status.SessionExpires); left < 2*time.Minute {
				t.Fatalf("only %v left", left)
			}
		}
		for time.Since(began) < 15*time.Minute {
			time.Sleep(admission.Tick)
			visit, poll := a.visit().Outcome, a.poll()
			if (visit == admission.Admit) != (poll.Status.State == admission.StateAdmitted) {
				t.Fatalf("after %v a request is answered by %d, a poll says %+v", time.Since(began), visit, poll.Status)
			}
		}
		g.ticks(2)
		if got := a.visit(); got.Ticket == 1 {
			t.Errorf("inside beyond session.max: %+v", got)
		}
	})
}

func TestVisit_ManyRequestsRenewOnce(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		a := g.visitor()
		a.visit()
		g.ticks(1)
		before := g.store.calls.Load()
		short := a.token
		for range 40 {
			same := visitor{g: g, room: a.room, token: short}
			wants(t, "asset", same.visit(), admission.Admit, admission.StateAdmitted)
		}
		if calls := g.store.calls.Load() - before; calls != 1 {
			t.Errorf("40 requests with one pass cost %d calls", calls)
		}
	})
}

func TestNote_KeepsAReaderInside(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		a := g.visitor()
		ticket := a.visit().Ticket
		time.Sleep(300 * time.Millisecond)
		a.room.Note(a.tokens()) // an asset, bypassed
		time.Sleep(25 * time.Second)
		got := a.visit()
		wants(t, "after 25 s of reading", got, admission.Admit, admission.StateAdmitted)
		if got.Ticket != ticket {
			t.Errorf("ticket %d, want %d", got.Ticket, ticket)
		}
	})
}

func TestVisit_ALeaseThatIsNeverShownIsGivenOn(t *testing.T) {
	inBubble(t, rules(2), 1, func(t *testing.T, g *gate) {
		for range 2 {
			g.visitor().visit() // without a cookie jar
		}
		live := g.visitor()
		live.visit()
		for range 11 {
			time.Sleep(2 * time.Second)
			live.poll()
		}
		wants(t, "after claim", live.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestEnter_KeepsTheSlotWhileARequestRuns(t *testing.T) {
	inBubble(t, rules(1), 2, func(t *testing.T, g *gate) {
		a, b := g.visitor(), g.visitor()
		ticket := a.visit().Ticket
		b.visit()
		leave, ok := a.room.Enter(t.Context(), ticket)
		if !ok {
			t.Fatal("not let in")
		}
		over := a.room.Over(ticket)
		for range 30 { // a minute, three times the claim time
			time.Sleep(2 * time.Second)
			if got := b.poll(); got.Status.State != admission.StateWaiting {
				t.Fatalf("the slot of a request in flight is given on: %+v", got.Status)
			}
			select {
			case <-over:
				t.Fatal("the lease is said to be over")
			default:
			}
		}
		leave()
		leave()
		for range 12 {
			time.Sleep(2 * time.Second)
			b.poll()
		}
		wants(t, "after it", b.visit(), admission.Admit, admission.StateAdmitted)
	})
}

func TestEnter_BoundsTheRequestsOfOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		room := g.add(admission.RoomSettings{Rules: rules(1), Inflight: 2})
		ticket := g.visitor().visit().Ticket
		one, _ := room.Enter(t.Context(), ticket)
		if _, ok := room.Enter(t.Context(), ticket); !ok {
			t.Fatal("the second is not let in")
		}
		start := time.Now()
		if _, ok := room.Enter(t.Context(), ticket); ok || time.Since(start) != 5*time.Second {
			t.Errorf("the third: %v after %v, want a refusal after 5 s", ok, time.Since(start))
		}
		go func() { time.Sleep(time.Second); one() }()
		if _, ok := room.Enter(t.Context(), ticket); !ok {
			t.Error("not let in when one has ended")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := room.Enter(ctx, ticket); ok {
			t.Error("let in although its client has gone")
		}
	})
}

func TestEnter_TellsAStreamThatItsLeaseIsOver(t *testing.T) {
	inBubble(t, rules(1), 1, func(t *testing.T, g *gate) {
		a := g.visitor()
		ticket := a.visit().Ticket
		leave, _ := a.room.Enter(t.Context(), ticket)
		defer leave()
		start := time.Now()
		<-a.room.Over(ticket)
		if lasted := time.Since(start); lasted < 14*time.Minute || lasted > 15*time.Minute+time.Second {
			t.Errorf("cut after %v, want session.max", lasted)
		}
	})
}

func TestExtend_CarriesALeaseThroughAHold(t *testing.T) {
	long := rules(1)
	long.Hold = 5 * time.Minute
	inBubble(t, long, 1, func(t *testing.T, g *gate) {
		a := g.visitor()
		ticket := a.visit().Ticket
		g.ticks(1)
		a.visit()
		got, err := a.room.Extend(t.Context(), ticket, 6*time.Minute)
		if err != nil || got.Outcome != admission.Admit {
			t.Fatalf("%+v, %v", got, err)
		}
		b := g.visitor()
		for range 120 { // four minutes of typing a card number
			time.Sleep(2 * time.Second)
			b.visit()
		}
		back := a.visit()
		wants(t, "pays", back, admission.Admit, admission.StateAdmitted)
		if back.Ticket != ticket || back.Token == "" {
			t.Errorf("back with %d and token %q", back.Ticket, back.Token)
		}
		if got, _ := a.room.Extend(t.Context(), 99, time.Minute); got.Outcome != admission.Refuse {
			t.Errorf("a ticket without a lease is extended: %+v", got)
		}
	})
}
