package main

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy"
	"foyer/store"
)

// front is what stands in front of the storefronts and the shop: the gates, the edge and the admin listener's handler,
// all of which a reload changes.
type front struct {
	stores   *store.Stores
	shop     *shop        // nil without one
	inside   http.Handler // what gates that say origin lead to
	registry *prometheus.Registry
	logger   *zap.Logger
	started  time.Time

	metrics     *proxy.Metrics
	observed    *storeMetrics
	keys        tokenKeys
	ring        *admission.Keyring
	rooms       *roomSet
	shelves     atomic.Pointer[shelves] // of the rooms in force; nil before there are any
	edge        *proxy.Edge
	certificate *proxy.Certificate // nil: plain HTTP
	admin       handlerSlot
}

// build makes it for a configuration. Its rooms do not run yet.
func (f *front) build(cfg *config.Config, keys []admission.Key) (err error) {
	f.started, f.rooms = time.Now(), newRoomSet()
	if f.ring, err = admission.NewKeyring(keys...); err != nil {
		return misuse{err}
	}
	if f.metrics, err = proxy.NewMetrics(f.registry); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if f.observed, err = newStoreMetrics(f.registry); err != nil {
		return err
	}
	rooms := f.rooms.plan(cfg, f.stores.Line, f.newRoom)
	settings, err := f.edgeSettings(cfg, rooms, keys)
	if err != nil {
		return err
	}
	if f.edge, err = proxy.New(settings); err != nil {
		return misuse{fmt.Errorf("build the edge: %w", err)}
	}
	if f.certificate, err = certificate(cfg.Server.TLS); err != nil {
		return err
	}
	shelves, err := newShelves(rooms)
	if err != nil {
		return err
	}
	f.rooms.start(rooms)
	f.rooms.take(cfg, rooms)
	f.shelves.Store(shelves)
	if err := f.registry.Register(proxy.NewGateCollector(f.rooms.operated)); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	f.admin.store(f.adminHandler(cfg))
	return nil
}

// edgeSettings are what the edge works by.
func (f *front) edgeSettings(cfg *config.Config, rooms []room, keys []admission.Key) (proxy.Settings, error) {
	gates, err := edgeGates(cfg, rooms, f.inside)
	if err != nil {
		return proxy.Settings{}, err
	}
	return proxy.Settings{
		Gates: gates, Always: f.webhooks(), JWKS: jwks(f.ring), Assertions: assertionKeys(keys),
		TrustedProxies:  cfg.Server.TrustedProxies,
		BodyBytes:       int64(cfg.Server.Limits.BodyBytes),
		JoinsPerAddress: cfg.Server.Limits.JoinsPerAddress,
		ReadTimeout:     cfg.Server.Timeouts.Read,
		WriteTimeout:    cfg.Server.Timeouts.Write,
		Logger:          f.logger,
		Metrics:         f.metrics,
	}, nil
}

// certificate reads what the configuration names; nil for plain HTTP.
func certificate(files config.TLS) (*proxy.Certificate, error) {
	if files.Cert == "" {
		return nil, nil //nolint:nilnil // plain HTTP has none
	}
	read, err := proxy.LoadCertificate(files.Cert, files.Key)
	if err != nil {
		return nil, misuse{err}
	}
	return read, nil
}

// adminHandler is what operators reach.
func (f *front) adminHandler(cfg *config.Config) http.Handler {
	settings := proxy.AdminSettings{
		Token: string(cfg.Server.AdminToken), Hosts: adminHosts(cfg.Server.Admin), Gates: f.rooms.operated(),
		Metrics:  promhttp.HandlerFor(f.registry, promhttp.HandlerOpts{Registry: f.registry}),
		Draining: f.edge.Draining, Started: f.started, Logger: f.logger,
	}
	if f.shop != nil {
		settings.Shop = f.shop.AdminHandler()
		for _, event := range cfg.Origin.Events {
			settings.Events = append(settings.Events, event.ID)
		}
	}
	return proxy.NewAdmin(settings)
}

// adminHosts is the name by which the admin listener is called, where the configuration gives it one.
func adminHosts(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return nil
	}
	return []string{host}
}

// tellLeft hands what the shop has left to the gates in front of it.
func (f *front) tellLeft(left map[string]int64) {
	if shelves := f.shelves.Load(); shelves != nil {
		shelves.tell(left)
	}
}

// webhooks are the paths that payment gateways send to: no gate stands before them.
func (f *front) webhooks() []proxy.Route {
	if f.shop == nil {
		return nil
	}
	return webhookRoutes(f.shop.till.Name(), f.shop.Handler())
}

func webhookRoutes(provider string, shop http.Handler) []proxy.Route {
	return []proxy.Route{{Method: http.MethodPost, Path: webhookPath(provider), Handler: shop}}
}
