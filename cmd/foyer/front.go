package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"foyer/admission"
	"foyer/config"
	"foyer/proxy"
)

// buildFront puts the gates in front of the storefronts and the shop, and listens.
func (a *app) buildFront(ctx context.Context, cfg *config.Config, keys []admission.Key, shop http.Handler, registry *prometheus.Registry) error {
	ring, err := admission.NewKeyring(keys...)
	if err != nil {
		return misuse{err}
	}
	metrics, err := proxy.NewMetrics(registry)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	observed, err := newStoreMetrics(registry)
	if err != nil {
		return err
	}
	a.rooms = newRooms(cfg, a.stores, ring, metrics, observed, a.logger)
	if a.shelves, err = newShelves(a.rooms); err != nil {
		return err
	}
	gates, err := edgeGates(cfg, a.rooms, shop)
	if err != nil {
		return err
	}
	edge, err := proxy.New(proxy.Settings{
		Gates: gates, Always: a.webhooks(), JWKS: jwks(ring),
		TrustedProxies:  cfg.Server.TrustedProxies,
		BodyBytes:       int64(cfg.Server.Limits.BodyBytes),
		JoinsPerAddress: cfg.Server.Limits.JoinsPerAddress,
		ReadTimeout:     cfg.Server.Timeouts.Read,
		WriteTimeout:    cfg.Server.Timeouts.Write,
		Logger:          a.logger,
		Metrics:         metrics,
	})
	if err != nil {
		return misuse{fmt.Errorf("build the edge: %w", err)}
	}
	return errors.Join(a.openEdge(ctx, cfg.Server, edge), a.openAdmin(ctx, cfg, registry, edge.Draining))
}

// openEdge listens for visitors.
func (a *app) openEdge(ctx context.Context, settings config.Server, edge *proxy.Edge) (err error) {
	server := proxy.ServerSettings{
		Handler:     edge,
		HeaderBytes: int(settings.Limits.HeaderBytes),
		Connections: settings.Limits.Connections,
		ReadHeader:  settings.Timeouts.ReadHeader,
		Write:       settings.Timeouts.Write,
		Idle:        settings.Timeouts.Idle,
		Drain:       settings.Timeouts.Drain,
		OnDrain:     edge.Drain,
		Logger:      a.logger,
	}
	scheme := "http"
	if settings.TLS.Cert != "" {
		scheme = "https"
		if server.Certificate, err = proxy.LoadCertificate(settings.TLS.Cert, settings.TLS.Key); err != nil {
			return misuse{err}
		}
	}
	if a.edgeListener, err = listen(ctx, settings.Listen); err != nil {
		return err
	}
	a.edge, a.Edge = proxy.NewServer(server), baseURL(scheme, a.edgeListener)
	return nil
}

// openAdmin listens for operators.
func (a *app) openAdmin(ctx context.Context, cfg *config.Config, registry *prometheus.Registry, draining func() bool) (err error) {
	gates := map[string]proxy.Operated{}
	for _, room := range a.rooms {
		gates[room.Name] = room.Room
	}
	if err := registry.Register(proxy.NewGateCollector(gates)); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	settings := proxy.AdminSettings{
		Token: string(cfg.Server.AdminToken), Hosts: adminHosts(cfg.Server.Admin), Gates: gates,
		Metrics:  promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		Draining: draining, Logger: a.logger,
	}
	if a.shop != nil {
		settings.Shop = a.shop.AdminHandler()
		for _, event := range cfg.Origin.Events {
			settings.Events = append(settings.Events, event.ID)
		}
	}
	if a.adminListener, err = listen(ctx, cfg.Server.Admin); err != nil {
		return err
	}
	a.admin = proxy.NewServer(proxy.ServerSettings{
		Handler: proxy.NewAdmin(settings), HeaderBytes: int(cfg.Server.Limits.HeaderBytes),
		ReadHeader: cfg.Server.Timeouts.ReadHeader, Write: time.Minute, Idle: cfg.Server.Timeouts.Idle, Drain: time.Second,
		Logger: a.logger,
	})
	a.Admin = baseURL("http", a.adminListener)
	return nil
}

// adminHosts is the name by which the admin listener is called, where the configuration gives it one.
func adminHosts(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return nil
	}
	return []string{host}
}

// webhooks are the paths that payment gateways send to: no gate stands before them.
func (a *app) webhooks() []proxy.Route {
	if a.shop == nil {
		return nil
	}
	return []proxy.Route{{Method: http.MethodPost, Path: webhookPath, Handler: a.shop.Handler()}}
}
