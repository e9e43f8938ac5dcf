package loadtest

import (
	"fmt"
	"strings"
	"time"
)

// trailKept is how many answers a guest remembers, to tell how a place was lost.
const trailKept = 24

// remember keeps what an answer said.
func (g *Guest) remember(place Place, err error) {
	said := place.State
	switch {
	case err != nil:
		said = "no answer"
	case place.Inside:
		said = "inside"
	case place.Refused != "":
		said = place.Refused
	}
	if place.Reason != "" {
		said += " (" + place.Reason + ")"
	}
	g.trail = append(g.trail, fmt.Sprintf("%v at %d: %s", time.Since(g.arrived).Round(time.Millisecond), g.base+1, said))
	g.trail = g.trail[max(0, len(g.trail)-trailKept):]
}

// compare looks whether the place is still the same.
func (g *Guest) compare(place Place) {
	switch {
	case place.Ticket != 0 && g.ticket != 0 && place.Ticket != g.ticket:
		g.party.Judge.Lost(fmt.Sprintf("ticket %d has become %d %s", g.ticket, place.Ticket, g.story()))
	case (place.State == "ended" || place.State == "no-ticket") && g.ticket != 0:
		g.party.Judge.Lost(fmt.Sprintf("ticket %d is told %q %s", g.ticket, place.State, g.story()))
		g.ticket = 0
		return
	}
	if place.Ticket != 0 {
		g.ticket = place.Ticket
	}
	if place.Visitor != "" {
		g.visitor = place.Visitor
	}
}

// story is what a lost place is explained by, if anything does.
func (g *Guest) story() string {
	return fmt.Sprintf("(arrived %s; %d polls, %d offers seen, %d requests without an answer, slept: %t, inside before: %t; %s)",
		g.arrived.Format("15:04:05.000"), g.polls, g.offers, g.retries, g.slept, g.outcome.Waited > 0, strings.Join(g.trail, "; "))
}
