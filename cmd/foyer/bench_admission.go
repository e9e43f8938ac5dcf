package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"foyer/config"
	"foyer/loadtest"
	"foyer/proxy"
)

// The crowd with and without a gate.
const (
	benchArrivals = 800
	benchGate     = 50
	benchStay     = 200 * time.Millisecond
	benchPerson   = "Bench-Person" // request header that says who somebody is, whatever the gate knows
)

// admissionResult is a line of the gates' table.
type admissionResult struct {
	Gate     int   `json:"gate"` // 0: none
	Arrivals int   `json:"arrivals"`
	Peak     int   `json:"peak"`
	Sold     int64 `json:"sold"`
	Oversold int64 `json:"oversold"`
}

// admission sends the crowd through a whole foyer, with a gate or with the gate off.
func (b *benchRun) admission(ctx context.Context, gate int) (result admissionResult, err error) {
	cfg := b.gateConfig(gate)
	event := cfg.Origin.Events[0].ID
	meter := &loadtest.Meter{Who: benchInside}
	app, err := newApp(ctx, cfg, zap.NewNop(), fitting{wrapShop: meter.Wrap, prefix: b.prefix})
	if err != nil {
		return result, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- app.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	if err := waitReady(ctx, app.front.rooms.list()); err != nil {
		return result, err
	}
	tally, transport := loadtest.NewTally(), loadtest.NewTransport(loadtest.TransportSettings{Connections: benchArrivals})
	defer transport.CloseIdleConnections()
	if err := loadtest.Warm(ctx, transport, app.Edge+"/_foyer/health", benchArrivals); err != nil {
		return result, err
	}
	loadtest.Crowd{People: benchArrivals, Visit: func(ctx context.Context, i int) loadtest.Outcome {
		site := loadtest.Site{
			Base: app.Edge, Gate: cfg.Gates[0].Name, Entry: "/api/events/" + event, Transport: transport,
			Header: http.Header{benchPerson: {fmt.Sprint(i)}},
		}
		return loadtest.NewBuyer(site, loadtest.Plan{Event: event, Quantity: 1, Patience: -1, Think: benchStay}).Run(ctx)
	}}.Run(ctx, tally)
	if err := tally.Failure(); err != nil {
		return result, err
	}
	sold, err := b.orders(ctx, event)
	return admissionResult{
		Gate: gate, Arrivals: tally.Arrived(), Peak: meter.Peak(), Sold: sold, Oversold: max(0, sold-b.settings.tickets),
	}, err
}

// benchInside names the person behind a request that was let in. Who reads a receipt after the slot was given back is not
// inside: that needs no slot.
func benchInside(r *http.Request) string {
	if visit, ok := proxy.VisitFrom(r.Context()); !ok || !visit.Admitted {
		return ""
	}
	return r.Header.Get(benchPerson)
}

// gateConfig is a foyer on the bench's servers; gate 0 lets everyone through.
func (b *benchRun) gateConfig(capacity int) *config.Config {
	cfg := config.Default()
	cfg.Server.Listen, cfg.Server.Admin = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Server.Timeouts.Drain = time.Second
	cfg.Store = config.Store{Redis: config.DSN(b.redis), Postgres: config.DSN(b.postgres)}
	cfg.Tokens = config.Tokens{
		Leeway: 250 * time.Millisecond, Keys: []config.Key{{ID: "bench", Secret: "a key for a bench that guards nothing"}}, // #nosec G101 -- it guards nothing
	}
	gate := config.DefaultGate()
	gate.Name, gate.Upstream, gate.Capacity = fmt.Sprintf("gate-%d", capacity), config.UpstreamOrigin, capacity
	if capacity == 0 {
		gate.Capacity, gate.Mode = 1, "off"
	}
	gate.Queue.Poll = config.Poll{Min: 400 * time.Millisecond, Max: 2 * time.Second}
	shop, event := config.DefaultOrigin(), config.DefaultEvent()
	event.ID, event.Capacity = fmt.Sprintf("bench-gate-%d", capacity), b.settings.tickets
	// The gate stands for this event alone, so that those who wait hear at once when nothing of it is left: the ledger
	// holds what other benches have not sold.
	gate.Match.Paths = []string{"/api/events/" + event.ID + "/**", "/api/holds/**", "/api/orders/**"}
	cfg.Gates = []config.Gate{gate}
	event.Name, event.Price = event.ID, config.Price{Amount: 12000, Currency: "eur"}
	shop.Events = []config.Event{event}
	cfg.Origin = &shop
	return &cfg
}
