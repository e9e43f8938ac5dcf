package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
	"foyer/origin"
	"foyer/proxy"
	"foyer/store"
)

// shop is the embedded shop with its till.
type shop struct {
	*origin.Shop
	till *till
}

// newShop opens the embedded shop and puts the events of the configuration on sale. onLeft is told what is left of them.
func newShop(ctx context.Context, cfg *config.Config, stores *store.Stores, keys []admission.Key, onLeft func(map[string]int64), registry prometheus.Registerer, logger *zap.Logger) (*shop, error) {
	for _, event := range cfg.Origin.Events {
		if _, err := stores.Ledger().PutEvent(ctx, originEvent(event)); err != nil {
			return nil, fmt.Errorf("put event %s on sale: %w", event.ID, err)
		}
	}
	strategy, err := stores.Strategy(cfg.Origin.Strategy)
	if err != nil {
		return nil, fmt.Errorf("open strategy %s: %w", cfg.Origin.Strategy, err)
	}
	till, err := newTill(ctx, cfg.Origin.Payment, logger)
	if err != nil {
		return nil, fmt.Errorf("open the till: %w", err)
	}
	key, old := buyerKeys(keys)
	made, err := origin.New(origin.Settings{
		Ledger: stores.Ledger(), Strategy: strategy, Gateway: till,
		HoldTTL: cfg.Origin.HoldTTL, ReapEvery: cfg.Origin.ReapEvery, ReconcileEvery: cfg.Origin.ReconcileEvery,
		Payment:        origin.PaymentSettings{Timeout: cfg.Origin.Payment.Timeout, Settle: cfg.Origin.Payment.Settle},
		OnLeft:         onLeft,
		BuyerKey:       key,
		OldBuyerKeys:   old,
		TrustedProxies: cfg.Server.TrustedProxies,
		Logger:         logger, Metrics: registry,
	})
	if err != nil {
		return nil, fmt.Errorf("open the shop: %w", err)
	}
	till.hooks = made.Handler()
	return &shop{Shop: made, till: till}, nil
}

func originEvent(event config.Event) origin.Event {
	return origin.Event{
		ID: event.ID, Name: event.Name, Capacity: event.Capacity,
		Amount: event.Price.Amount, Currency: event.Price.Currency, MaxPerBuyer: event.MaxPerBuyer,
	}
}

// withCaller hands the gate's verdict to the shop.
func withCaller(shop http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if visit, ok := proxy.VisitFrom(r.Context()); ok {
			r = r.WithContext(origin.WithCaller(r.Context(), caller(visit)))
		}
		shop.ServeHTTP(w, r)
	})
}

// caller is a visit in the words of the shop.
func caller(visit proxy.Visit) origin.Caller {
	return origin.Caller{
		Buyer: visit.Visitor, Gated: true, Slot: visit.Admitted, Release: visit.Release,
		NeedSlot: func(w http.ResponseWriter, r *http.Request) (origin.Caller, bool) {
			now, ok := visit.NeedSlot(w, r)
			return caller(now), ok
		},
	}
}
