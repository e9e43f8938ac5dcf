package main

import (
	"context"
	"errors"
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
	rooms  []room

	edge, admin                 *proxy.Server
	edgeListener, adminListener net.Listener
}

// newApp puts everything together and listens. wrapShop, if not nil, stands between the gates and the embedded shop.
func newApp(ctx context.Context, cfg *config.Config, logger *zap.Logger, wrapShop func(http.Handler) http.Handler) (*app, error) {
	a := &app{logger: logger}
	if err := a.build(ctx, cfg, wrapShop); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *app) build(ctx context.Context, cfg *config.Config, wrapShop func(http.Handler) http.Handler) error {
	registry := newRegistry()
	keys, err := tokenKeys(cfg.Tokens, a.logger)
	if err != nil {
		return err
	}
	if a.stores, err = openStores(ctx, cfg, a.logger); err != nil {
		return err
	}
	var shopHandler http.Handler = http.NotFoundHandler()
	if cfg.Origin != nil {
		return misuse{errors.New("the embedded shop cannot be served yet")}
	}
	if wrapShop != nil {
		shopHandler = wrapShop(shopHandler)
	}
	return a.buildFront(ctx, cfg, keys, shopHandler, registry)
}

// Run serves until ctx ends, then drains: the edge lets its requests finish while the rooms and the shop go on, and they
// end after it. It closes all that newApp has opened.
func (a *app) Run(ctx context.Context) error {
	defer a.close()
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
	return errors.Join(err, workers.Wait())
}

// work starts what goes on as long as anybody is served, and a little longer.
func (a *app) work(ctx context.Context, workers *errgroup.Group) {
	for _, room := range a.rooms {
		workers.Go(func() error { return room.Run(ctx) })
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
	if a.stores != nil {
		err = a.stores.Close()
	}
	return err
}
