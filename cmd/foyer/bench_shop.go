package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/config"
	"foyer/loadtest"
	"foyer/origin"
)

// benchShop is a shop without a gate, served on a loopback port, with one event on sale.
type benchShop struct {
	event     string
	base      string // URL of the shop
	till      *till
	transport *http.Transport
	hooks     *atomic.Int64 // webhooks that the shop has answered
	stop      func() error
}

// openShop puts an event on sale by the strategy given, for so many clients at once.
func (b *benchRun) openShop(ctx context.Context, strategy origin.Strategy, event string, capacity int64, clients int) (*benchShop, error) {
	if _, err := b.ledger.PutEvent(ctx, benchEvent(event, capacity)); err != nil {
		return nil, err
	}
	payment := config.DefaultOrigin().Payment
	till, err := newTill(ctx, payment, zap.NewNop())
	if err != nil {
		return nil, err
	}
	shop, err := origin.New(origin.Settings{
		Ledger: b.ledger, Strategy: strategy, Gateway: till,
		HoldTTL: time.Minute, ReapEvery: time.Second, ReconcileEvery: time.Minute,
		Payment:  origin.PaymentSettings{Timeout: payment.Timeout, Settle: payment.Settle},
		BuyerKey: []byte("a key for a bench that guards nothing"),
	})
	if err != nil {
		return nil, err
	}
	hooks := new(atomic.Int64)
	till.hooks = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shop.Handler().ServeHTTP(w, r)
		hooks.Add(1)
	})
	listener, err := listen(ctx, "the shop", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	group, running := errgroup.WithContext(running)
	group.Go(func() error { return serveUntil(running, plainServer(shop.Handler()), listener, time.Second) })
	group.Go(func() error { return till.Run(running) })
	group.Go(func() error { return shop.Run(running) })
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: clients})
	return &benchShop{
		event: event, base: baseURL("http", listener), till: till, transport: transport, hooks: hooks,
		stop: func() error {
			transport.CloseIdleConnections()
			cancel()
			return group.Wait()
		},
	}, nil
}

// benchEvent is an event that anybody may buy one of.
func benchEvent(id string, capacity int64) origin.Event {
	return origin.Event{ID: id, Name: id, Capacity: capacity, Amount: 12000, Currency: "eur", MaxPerBuyer: 1}
}

// rush lets everybody ask at once.
func (s *benchShop) rush(ctx context.Context, buyers int) (loadtest.Rushed, error) {
	return loadtest.Rush{Base: s.base, Event: s.event, Buyers: buyers, Transport: s.transport}.Run(ctx)
}

// charges counts what the payment gateway has really charged.
func (s *benchShop) charges(ctx context.Context) (int, error) {
	var got struct {
		Charges int `json:"charges"`
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.till.base+"/_simulator/charges", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&got)
	return got.Charges, err
}

// settle has all winners pay.
func settle(ctx context.Context, winners []*loadtest.Winner) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(benchPool)
	for _, winner := range winners {
		group.Go(func() error {
			_, err := winner.Settle(ctx)
			return err
		})
	}
	return group.Wait()
}

// orders counts the units in the orders of an event, by their rows.
func (b *benchRun) orders(ctx context.Context, event string) (int64, error) {
	audit, ok, err := b.ledger.Audit(ctx, event)
	if err == nil && !ok {
		err = errors.New("it is not in the ledger")
	}
	if err != nil {
		return 0, fmt.Errorf("audit event %s: %w", event, err)
	}
	return audit.SoldRows, nil
}
