package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"
)

// Habits are what a guest does in line and inside. The zero value waits without patience and looks at one page.
type Habits struct {
	Patience time.Duration // in line, then leaves; negative: without end
	Stay     time.Duration // inside, from the first page to leaving
	Pages    int           // after the first, spread over Stay
	Event    string        // buys one unit of it once inside; empty: only looks

	VanishesAfter int           // goes without a word after so many polls; 0: never
	VanishesIn    bool          // goes without a word once inside
	SleepsAfter   int           // is silent once, after so many polls; 0: never
	Sleep         time.Duration // for so long
	Copies        bool          // once in line, a copy of the cookie asks as well, as another tab does
}

// Cut is the end of a visit that was not over when the load test was.
const Cut End = "cut"

// Party is what all guests of a load test share.
type Party struct {
	Site  Site
	Bases []string // of replicas; a guest who gets no answer from one goes on at the next, as behind a load balancer
	Judge *Judge
	Meter *Meter // told who has to wait again; may be nil
}

// Guest is a visitor with habits, who never gives a place up because a request failed. It is a state machine: each step
// does one thing and names the next.
type Guest struct {
	*Visitor
	party   Party
	habits  Habits
	number  int
	base    int
	dice    *rand.Rand
	outcome Outcome

	arrived time.Time
	after   time.Time // the last time that the gate certainly had no slot for him
	ticket  uint64
	visitor string
	polls   int
	pages   int
	inside  bool
	retries int
	offers  int
	slept   bool
	trail   []string // what the last answers said
}

// NewGuest makes a guest who has not arrived yet.
func NewGuest(party Party, number int, habits Habits) *Guest {
	g := &Guest{
		Visitor: NewVisitor(party.Site), party: party, habits: habits, number: number, base: number % len(party.Bases),
		dice: rand.New(rand.NewPCG(uint64(number), 0)),
	}
	g.site.Base = party.Bases[g.base]
	return g
}

// Run walks the guest through the whole visit.
func (g *Guest) Run(ctx context.Context) Outcome {
	g.arrived = time.Now()
	g.after = g.arrived
	for next := g.ask; next != nil; {
		next = next(ctx)
	}
	return g.outcome
}

// Retries is how many requests got no answer.
func (g *Guest) Retries() int { return g.retries }

// ask asks for the page.
func (g *Guest) ask(ctx context.Context) step {
	place, err := g.insist(ctx, g.Arrive)
	if err != nil {
		return g.stop(err)
	}
	return g.stand(place)
}

// insist repeats a request until it is answered, at the next replica each time.
func (g *Guest) insist(ctx context.Context, request func(context.Context) (Place, error)) (Place, error) {
	for {
		place, err := request(ctx)
		g.remember(place, err)
		if err == nil && place.Code != 502 && place.Code != 504 {
			return place, nil
		}
		if ctx.Err() != nil {
			return place, ctx.Err()
		}
		g.retries++
		g.party.Judge.Broke(g.number)
		g.base = (g.base + 1) % len(g.party.Bases)
		g.site.Base = g.party.Bases[g.base]
		if err := pause(ctx, time.Duration(50+g.dice.IntN(200))*time.Millisecond); err != nil {
			return place, err
		}
	}
}

// stand goes on from where the guest stands.
func (g *Guest) stand(place Place) step {
	g.compare(place)
	switch {
	case place.Inside:
		return g.enter(place)
	case place.Refused != "":
		return g.end(Refused)
	}
	if g.inside {
		g.inside = false
		g.party.Judge.PutOut()
		if g.party.Meter != nil {
			g.party.Meter.End(g.visitor)
		}
	}
	g.party.Judge.Told(g.number, place, time.Now())
	if place.State == "waiting" && !place.AsOf.IsZero() {
		g.after = place.AsOf
	}
	return func(ctx context.Context) step { return g.wait(ctx, place) }
}

// wait waits until it is time to ask again, or does one of the things that people do in line.
func (g *Guest) wait(ctx context.Context, place Place) step {
	switch {
	case g.habits.VanishesAfter > 0 && g.polls >= g.habits.VanishesAfter:
		return g.end(Vanished)
	case g.habits.Patience >= 0 && time.Since(g.arrived)+place.Again > g.habits.Patience:
		return func(ctx context.Context) step { return g.goodbye(ctx, GaveUp) }
	case g.habits.Copies && g.ticket != 0:
		g.habits.Copies = false
		if err := g.copyAsks(ctx); err != nil {
			return g.stop(err)
		}
	case g.habits.SleepsAfter > 0 && g.polls >= g.habits.SleepsAfter:
		g.habits.SleepsAfter, g.slept = 0, true
		place.Again += g.habits.Sleep
	}
	if err := pause(ctx, place.Again); err != nil {
		return g.stop(err)
	}
	if place.State == "offered" || place.State == "admitted" {
		return g.ask
	}
	return g.poll
}

// poll asks for the place, and for the page as soon as it may be had.
func (g *Guest) poll(ctx context.Context) step {
	g.polls++
	place, err := g.insist(ctx, g.Poll)
	if err != nil {
		return g.stop(err)
	}
	switch place.State {
	case "offered", "admitted":
		g.offers++
		g.compare(place)
		g.party.Judge.Broke(g.number) // has a slot: does not wait
		return g.ask
	case "ended", "no-ticket":
		g.compare(place)
		g.ticket = 0
		return g.ask
	}
	return g.stand(place)
}

// copyAsks has a second tab with the same cookie ask for the place.
func (g *Guest) copyAsks(ctx context.Context) error {
	tab := NewVisitor(g.site)
	address, err := url.Parse(g.site.Base)
	if err != nil {
		return fmt.Errorf("read the address of the gate: %w", err)
	}
	tab.client.Jar.SetCookies(address, g.client.Jar.Cookies(address))
	place, err := tab.Poll(ctx)
	if err == nil && place.Ticket != 0 && place.Ticket != g.ticket {
		g.party.Judge.Lost(fmt.Sprintf("a copy of ticket %d is told %d", g.ticket, place.Ticket))
	}
	return ctx.Err() // the tab is closed if it gets no answer
}

// enter is being let in, for the first time or again.
func (g *Guest) enter(place Place) step {
	if place.Code >= 400 {
		g.outcome.Err = fmt.Errorf("ask for %s: status %d from behind the gate", g.site.Entry, place.Code)
		return g.end(Failed)
	}
	if !g.inside {
		g.inside = true
		at := place.At
		if at.IsZero() {
			at = time.Now()
		}
		g.party.Judge.Admitted(g.number, g.ticket, g.after, at)
		if g.outcome.Waited == 0 {
			g.outcome.Waited = at.Sub(g.arrived)
		}
	}
	if g.habits.VanishesIn {
		return g.end(Vanished)
	}
	return g.look
}

// look is the time between two pages, or before leaving.
func (g *Guest) look(ctx context.Context) step {
	if err := pause(ctx, g.habits.Stay/time.Duration(g.habits.Pages+1)); err != nil {
		return g.stop(err)
	}
	if g.pages < g.habits.Pages {
		g.pages++
		return g.ask
	}
	if g.habits.Event != "" {
		return g.buy
	}
	return func(ctx context.Context) step { return g.goodbye(ctx, Looked) }
}

// buy takes one unit and pays for it.
func (g *Guest) buy(ctx context.Context) step {
	held, err := g.Hold(ctx, g.habits.Event, 1)
	switch {
	case err != nil:
		return g.stop(err)
	case held.Waiting:
		return g.ask
	case held.ID == "":
		return func(ctx context.Context) step { return g.goodbye(ctx, SoldOut) }
	}
	if g.outcome.Order, err = (&Winner{Visitor: g.Visitor, Hold: held.ID}).Settle(ctx); err != nil {
		return g.stop(err)
	}
	return g.end(Bought)
}

// goodbye gives the place or the slot back.
func (g *Guest) goodbye(ctx context.Context, end End) step {
	_, err := g.insist(ctx, func(ctx context.Context) (Place, error) { return Place{}, g.Leave(ctx) })
	if err != nil {
		return g.stop(err)
	}
	return g.end(end)
}

// stop ends a visit that was cut short or broke.
func (g *Guest) stop(err error) step {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return g.end(Cut)
	}
	g.outcome.Err = err
	return g.end(Failed)
}

func (g *Guest) end(end End) step {
	g.party.Judge.Broke(g.number)
	g.outcome.End = end
	return nil
}
