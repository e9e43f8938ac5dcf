package origin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// stepTime bounds a step that is not given up when the client hangs up.
const stepTime = 15 * time.Second

// Settings of a [Shop].
type Settings struct {
	Ledger   Ledger
	Strategy Strategy
	Gateway  Gateway

	HoldTTL        time.Duration // how long a hold is kept unpaid
	ReapEvery      time.Duration // between two looks for expired holds
	ReconcileEvery time.Duration
	Payment        PaymentSettings

	// OnLeft is told what every event has left to sell, units on hold included: once a second, and after sales. nil: the
	// gate in front is told by Foyer-Command, of all events together.
	OnLeft func(left map[string]int64)

	// BuyerKey signs the cookie of buyers who come without a gate; the same on every replica and after a restart.
	BuyerKey []byte
	// OldBuyerKeys are keys that cookies may still be signed with.
	OldBuyerKeys [][]byte
	// TrustedProxies may name the buyer with X-Foyer-Visitor where no gate is in front.
	TrustedProxies []netip.Prefix

	Logger  *zap.Logger           // nil: silent
	Metrics prometheus.Registerer // nil: none
}

// PaymentSettings bound a payment.
type PaymentSettings struct {
	Timeout time.Duration // of one call to the gateway
	Settle  time.Duration // how long an unknown outcome may keep a seat
}

// Shop sells the events of a ledger over HTTP.
type Shop struct {
	settings    Settings
	logger      *zap.Logger
	metrics     *metrics
	buyers      atomic.Pointer[buyers]
	idempotency *idempotency
	payments    *payments
	reconciler  *reconciler
	shelf       *shelf
	public      http.Handler
	admin       http.Handler
}

// New makes a shop; its loops are the work of Run.
func New(settings Settings) (*Shop, error) {
	switch {
	case settings.Ledger == nil || settings.Strategy == nil || settings.Gateway == nil:
		return nil, errors.New("a shop needs a ledger, a strategy and a gateway")
	case settings.HoldTTL <= 0 || settings.Payment.Timeout <= 0 || settings.Payment.Settle <= 0:
		return nil, errors.New("hold ttl, payment timeout and settle must be positive")
	case settings.ReapEvery <= 0 || settings.ReconcileEvery <= 0:
		return nil, errors.New("reap and reconcile intervals must be positive")
	case len(settings.BuyerKey) < 16:
		return nil, errors.New("the buyer key is shorter than 16 bytes")
	}
	if settings.Logger == nil {
		settings.Logger = zap.NewNop()
	}
	counts, err := newMetrics(settings.Metrics, settings.Ledger, settings.Logger)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	s := &Shop{
		settings:    settings,
		logger:      settings.Logger,
		metrics:     counts,
		idempotency: &idempotency{ledger: settings.Ledger},
		payments:    newPayments(settings, counts),
		reconciler: &reconciler{
			ledger: settings.Ledger, strategy: settings.Strategy, metrics: counts, logger: settings.Logger,
		},
		shelf: &shelf{ledger: settings.Ledger, tell: settings.OnLeft, logger: settings.Logger},
	}
	s.Recognise(settings.BuyerKey, settings.OldBuyerKeys, settings.TrustedProxies)
	s.public, s.admin = s.publicRoutes(), s.adminRoutes()
	return s, nil
}

// Recognise exchanges, while the shop runs, how it knows buyers who come without a gate: the key that signs their
// cookies, the keys that did, and the proxies that may name them.
func (s *Shop) Recognise(key []byte, old [][]byte, trusted []netip.Prefix) {
	s.buyers.Store(&buyers{key: key, old: old, trusted: trusted})
}

// Handler serves buyers and the gateway's webhooks.
func (s *Shop) Handler() http.Handler { return s.public }

// AdminHandler serves the operator: the ledger of an event, its capacity, refunds and reconciling. Who may call it is
// decided in front of it.
func (s *Shop) AdminHandler() http.Handler { return s.admin }

// Run does the shop's work in the background, the strategy's included, until the context ends: the reaper, the
// resolver and the reconciler.
func (s *Shop) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	reaper := &reaper{
		ledger: s.settings.Ledger, strategy: s.settings.Strategy, metrics: s.metrics, logger: s.logger,
	}
	group.Go(func() error { return s.settings.Strategy.Run(ctx) })
	group.Go(func() error { return every(ctx, s.settings.ReapEvery, reaper.reap) })
	group.Go(func() error { return every(ctx, sweepEvery, reaper.sweep) })
	group.Go(func() error { return every(ctx, s.settings.ReconcileEvery, s.reconciler.round) })
	group.Go(func() error { return s.payments.resolve(ctx) })
	group.Go(func() error { return s.shelf.run(ctx) })
	group.Go(func() error { return every(ctx, slotsEvery, s.payments.slots.look) })
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run shop: %w", err)
	}
	return nil
}

// step is the context of a step that must not be left half done when the client hangs up.
func (s *Shop) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), stepTime)
}

// broke logs what broke, once, and answers that it may be tried again.
func (s *Shop) broke(what string, err error) outcome {
	s.logger.Error(what, zap.Error(err))
	return problem(ledgerUnavailable, nil)
}

// every does the work at once and then once per period, until the context ends.
func every(ctx context.Context, period time.Duration, work func(context.Context)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		work(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
