package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/config"
	"foyer/proxy"
	"foyer/store"
)

// app is a whole foyer, put together from a configuration and ready to run.
type app struct {
	Edge, Admin string // base URLs, with the real ports

	logger *zap.Logger
	stores *store.Stores
	shop   *shop // nil without one
	front  *front

	reloader *reloader // nil: the configuration stays as it is

	edge, admin                 *proxy.Server
	edgeListener, adminListener net.Listener
}

// fitting is what the demo and the bench put into an app beside its configuration.
type fitting struct {
	wrapShop func(http.Handler) http.Handler // stands between the gates and the embedded shop; nil: nothing
	prefix   string                          // of every key in Redis; empty: the usual one
}

// newApp puts everything together and listens.
func newApp(ctx context.Context, cfg *config.Config, logger *zap.Logger, fitting fitting) (*app, error) {
	a := &app{logger: logger}
	if err := a.build(ctx, cfg, fitting); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *app) build(ctx context.Context, cfg *config.Config, fitting fitting) error {
	a.front = &front{registry: newRegistry(), logger: a.logger}
	keys, err := a.front.keys.read(cfg.Tokens, a.logger)
	if err != nil {
		return err
	}
	settings := storeSettings(cfg)
	settings.Prefix, settings.Logger = fitting.prefix, a.logger
	settings.StateSaved = func(err error) { a.front.observed.seen("state_file", err) }
	if a.stores, err = store.Open(ctx, settings); err != nil {
		return err
	}
	var shopHandler http.Handler = http.NotFoundHandler()
	if cfg.Origin != nil {
		if a.shop, err = newShop(ctx, cfg, a.stores, keys, a.front.tellLeft, a.front.registry, a.logger); err != nil {
			return err
		}
		shopHandler = withCaller(a.shop.Handler())
	}
	if fitting.wrapShop != nil {
		shopHandler = fitting.wrapShop(shopHandler)
	}
	a.front.stores, a.front.shop, a.front.inside = a.stores, a.shop, shopHandler
	if err := a.front.build(cfg, keys); err != nil {
		return err
	}
	return a.listen(ctx, cfg.Server)
}

// waitReady waits until every room has heard from its store.
func waitReady(ctx context.Context, rooms []room) error {
	for _, room := range rooms {
		select {
		case <-room.Ready():
		case <-ctx.Done():
			return fmt.Errorf("wait for gate %s: %w", room.Name, ctx.Err())
		}
	}
	return nil
}

// Run serves until ctx ends, then drains: the edge lets its requests finish while the rooms and the shop go on, then
// they end, and then the state is saved for the last time. It closes all that newApp has opened.
func (a *app) Run(ctx context.Context) error {
	defer a.close()
	keeping, kept := context.WithCancel(context.WithoutCancel(ctx))
	defer kept()
	stores, keeping := errgroup.WithContext(keeping)
	stores.Go(func() error { return a.stores.Run(keeping) })
	working, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	workers, working := errgroup.WithContext(working)
	a.work(working, workers)
	serving, cut := context.WithCancel(ctx)
	defer cut()
	context.AfterFunc(working, cut) // a worker that broke ends the service
	a.logger.Info("listening", zap.String("edge", a.Edge), zap.String("admin", a.Admin))
	err := a.edge.Serve(serving, a.edgeListener)
	done()
	err = errors.Join(err, workers.Wait())
	kept() // the rooms have said their last
	return errors.Join(err, stores.Wait())
}

// work starts what goes on as long as anybody is served, and a little longer.
func (a *app) work(ctx context.Context, workers *errgroup.Group) {
	workers.Go(func() error { return a.front.rooms.Run(ctx) })
	if a.reloader != nil {
		workers.Go(func() error { return a.reloader.Run(ctx) })
	}
	if a.shop != nil {
		workers.Go(func() error { return a.shop.till.Run(ctx) })
		workers.Go(func() error { return a.shop.Run(ctx) })
	}
	workers.Go(func() error { return a.admin.Serve(ctx, a.adminListener) })
}

// close lets go of what newApp has opened.
func (a *app) close() (err error) {
	for _, listener := range []net.Listener{a.edgeListener, a.adminListener} {
		if listener != nil {
			_ = listener.Close() // its server has closed it, if it ever ran
		}
	}
	if a.shop != nil {
		a.shop.till.close()
	}
	if a.stores != nil {
		err = a.stores.Close()
	}
	return err
}
