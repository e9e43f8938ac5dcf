package soak

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/loadtest"
)

var (
	queued     = flag.Int("queued", 50, "how many are queued for the drain")
	drainGate  = flag.Int("drain-capacity", 10, "K of the drain")
	drainLimit = flag.Float64("drain-limit", 5, "how many times the ideal a drain may take; a busy machine adds much to it")
)

// drainConfiguration is a gate that empties: the addresses, Redis, the upstream, K.
const drainConfiguration = `
server: {listen: "%%s", admin: "%%s", log: {level: warn}}
store: {redis: "%s", state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - name: shop
    upstream: %s
    capacity: %d
    session: {idle: 3s, claim: 1s}
    queue: {poll: {min: 200ms, max: 2s}}
`

// TestDrain_OverHTTPTakesLittleMoreThanTheIdeal empties a full line over HTTP and Redis; a fifth of those queued go
// without a word. The exact figures are those of the same test in admission, in a time that nothing disturbs.
func TestDrain_OverHTTPTakesLittleMoreThanTheIdeal(t *testing.T) {
	const session = 5 * time.Second
	storefront := loadtest.NewStorefront(3 * time.Second)
	upstream := httptest.NewServer(storefront)
	defer upstream.Close()
	r := newReplica(t, fmt.Sprintf(drainConfiguration, services.PrivateRedis(t).URL(), upstream.URL, *drainGate))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if err := r.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: *queued})
	defer transport.CloseIdleConnections()
	party := loadtest.Party{
		Site:  loadtest.Site{Gate: "shop", Entry: "/sale", Transport: transport},
		Bases: []string{r.edge}, Judge: loadtest.NewJudge(), Meter: storefront.Meter,
	}
	slots := &loadtest.Slots{Admins: []string{r.admin}, Gate: "shop"}
	looking, stop := context.WithCancel(ctx)
	defer stop()
	go slots.Run(looking)
	started, tally := time.Now(), loadtest.NewTally()
	loadtest.Crowd{People: *queued, Visit: func(ctx context.Context, i int) loadtest.Outcome {
		habits := loadtest.Habits{Patience: -1, Stay: session, Pages: 5}
		if i%5 == 0 {
			habits.VanishesAfter, habits.VanishesIn = 1, true
		}
		return loadtest.NewGuest(party, i, habits).Run(ctx)
	}}.Run(ctx, tally)
	took := time.Since(started)
	stay := tally.Ends()[loadtest.Looked]
	ideal := time.Duration(stay) * session / time.Duration(*drainGate)
	whole := slots.Time()
	t.Logf("%d of %d stayed: %v, %.3f times the ideal %v; slot time leased %v, offered %v, given back %v, idle %v",
		stay, *queued, took, took.Seconds()/ideal.Seconds(), ideal, whole.Leased, whole.Offered, whole.Leaving, whole.Idle)
	if want := *queued - (*queued+4)/5; stay != want {
		t.Errorf("%d of %d were served: %v", stay, want, tally.Ends())
	}
	if took.Seconds() > *drainLimit*ideal.Seconds() {
		t.Errorf("more than %.2f times the ideal", *drainLimit)
	}
	if peak := storefront.Meter.Peak(); peak > *drainGate {
		t.Errorf("%d were inside at once", peak)
	}
}
