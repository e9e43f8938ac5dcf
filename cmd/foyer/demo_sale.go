package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"foyer/config"
	"foyer/loadtest"
	"foyer/proxy"
)

// The demo: enough people for a line, and times short enough to watch.
const (
	demoEvent    = "demo"
	demoTickets  = 100
	demoGate     = 10
	demoArrivals = 200
	demoOver     = 3 * time.Second // they arrive over this time
	demoThink    = 250 * time.Millisecond
	demoHold     = 2 * time.Second // what is not paid for by then is for sale again
)

// sale is a foyer with an embedded shop, and the crowd that comes to it.
type sale struct {
	app    *app
	site   loadtest.Site
	meter  *loadtest.Meter
	tally  *loadtest.Tally
	live   *loadtest.Live
	people io.Writer
}

// demoConfig is the configuration of the demo, all of it on free ports and in one folder.
func demoConfig(folder string) *config.Config {
	cfg := config.Default()
	cfg.Server.Listen, cfg.Server.Admin = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Server.Timeouts.Drain = time.Second
	cfg.Store.SQLite, cfg.Store.StateFile = filepath.Join(folder, "foyer.db"), filepath.Join(folder, "foyer.state")
	cfg.Tokens.Leeway = 250 * time.Millisecond
	gate := config.DefaultGate()
	gate.Name, gate.Upstream, gate.Capacity = "demo", config.UpstreamOrigin, demoGate
	gate.Session = config.Session{Idle: 2 * time.Second, Max: time.Minute, Claim: time.Second, Inflight: 32}
	gate.Queue.Poll = config.Poll{Min: 200 * time.Millisecond, Max: time.Second}
	cfg.Gates = []config.Gate{gate}
	shop := config.DefaultOrigin()
	shop.HoldTTL, shop.ReapEvery, shop.ReconcileEvery = demoHold, 100*time.Millisecond, time.Second
	event := config.DefaultEvent()
	event.ID, event.Name, event.Capacity = demoEvent, "The Demo Final", demoTickets
	event.Price = config.Price{Amount: 12000, Currency: "eur"}
	shop.Events = []config.Event{event}
	cfg.Origin = &shop
	return &cfg
}

func newSale(ctx context.Context, cfg *config.Config, people io.Writer) (*sale, error) {
	meter := &loadtest.Meter{Who: whoIsInside}
	app, err := newApp(ctx, cfg, zap.NewNop(), fitting{wrapShop: meter.Wrap})
	if err != nil {
		return nil, err
	}
	return &sale{
		app: app, meter: meter, tally: loadtest.NewTally(), people: people,
		live: &loadtest.Live{W: people, Terminal: isTerminal(people)},
		site: loadtest.Site{
			Base: app.Edge, Gate: "demo", Entry: "/api/events/" + demoEvent,
			Transport: loadtest.NewTransport(loadtest.TransportSettings{Connections: demoArrivals}),
		},
	}, nil
}

// whoIsInside is the ticket of somebody who has a slot.
func whoIsInside(r *http.Request) string {
	visit, ok := proxy.VisitFrom(r.Context())
	if !ok || !visit.Admitted {
		return ""
	}
	return fmt.Sprint(visit.Ticket)
}

// start serves until the function it answers with is called.
func (s *sale) start(ctx context.Context) (stop func() error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.app.Run(running) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// run sends the crowd and counts what came of it.
func (s *sale) run(ctx context.Context) (demoResult, error) {
	started := time.Now()
	fmt.Fprintf(s.people, "%d buyers, %d tickets, a gate that lets in %d at a time.\n\n", demoArrivals, demoTickets, demoGate)
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(watching)
	}()
	s.send(ctx, demoArrivals, demoOver)
	sold, err := s.sold(ctx)
	for err == nil && sold < demoTickets && ctx.Err() == nil {
		s.send(ctx, demoGate, 0) // what others held to the end is for sale again, and somebody always comes late
		sold, err = s.sold(ctx)
	}
	unwatch()
	<-watched
	ends := s.tally.Ends()
	if ends[loadtest.Failed] > 0 {
		err = errors.Join(err, fmt.Errorf("%d visits broke, the first: %w", ends[loadtest.Failed], s.tally.Failure()))
	}
	return demoResult{
		Capacity: demoTickets, Sold: sold, Oversold: max(0, sold-demoTickets),
		GateCapacity: demoGate, PeakInside: s.meter.Peak(),
		Arrivals: s.tally.Arrived(),
		GaveUp:   ends[loadtest.GaveUp] + ends[loadtest.LeftUnpaid] + ends[loadtest.Vanished] + ends[loadtest.Declined],
		Seconds:  time.Since(started).Round(10 * time.Millisecond).Seconds(),
	}, err
}

// send lets so many buyers arrive and waits until the last has gone.
func (s *sale) send(ctx context.Context, people int, over time.Duration) {
	loadtest.Crowd{People: people, Over: over, Visit: func(ctx context.Context, i int) loadtest.Outcome {
		return loadtest.NewBuyer(s.site, demoPlan(i, people)).Run(ctx)
	}}.Run(ctx, s.tally)
}

// sold counts the orders.
func (s *sale) sold(ctx context.Context) (int64, error) {
	audit, _, err := s.app.stores.Ledger().Audit(context.WithoutCancel(ctx), demoEvent)
	if err != nil {
		return 0, fmt.Errorf("count the orders: %w", err)
	}
	return audit.SoldRows, nil
}

// demoPlan spreads what people do over a crowd: of twenty, two run out of patience in line, two never pay, one vanishes
// from inside and one has no money. Latecomers, of whom there are few, all buy.
func demoPlan(i, people int) loadtest.Plan {
	plan := loadtest.Plan{Event: demoEvent, Quantity: 1, Patience: -1, Think: demoThink, Persist: demoHold + time.Second}
	if people < demoArrivals {
		return plan
	}
	switch i % 20 {
	case 3, 13:
		plan.Patience = 1500 * time.Millisecond
	case 5, 15:
		plan.Fate = loadtest.WalksAway
	case 8:
		plan.Fate = loadtest.VanishesNow
	case 18:
		plan.Method = "pm_card_declined"
	}
	return plan
}

// watch shows how the sale goes, until ctx ends.
func (s *sale) watch(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s.show(ctx)
		select {
		case <-ctx.Done():
			s.show(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

func (s *sale) show(ctx context.Context) {
	stock, _, err := s.app.stores.Ledger().Event(ctx, demoEvent)
	if err != nil {
		return // the next look will do
	}
	gate := s.app.front.rooms.list()[0].Info()
	s.live.Show(time.Now(), []loadtest.Gauge{
		{Label: "arrived", Value: s.tally.Arrived(), Of: demoArrivals},
		{Label: "waiting", Value: gate.Waiting, Of: demoArrivals},
		{Label: "inside", Value: gate.Active, Of: gate.Capacity},
		{Label: "held", Value: int(stock.Held), Of: demoTickets},
		{Label: "sold", Value: int(stock.Sold), Of: demoTickets},
	})
}
