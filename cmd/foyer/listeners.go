package main

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"foyer/config"
	"foyer/proxy"
)

// handlerSlot is a handler that can be exchanged while a server runs.
type handlerSlot struct{ current atomic.Pointer[http.Handler] }

var _ http.Handler = (*handlerSlot)(nil)

func (s *handlerSlot) store(handler http.Handler) { s.current.Store(&handler) }

func (s *handlerSlot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.current.Load()).ServeHTTP(w, r)
}

// listen opens the listeners of visitors and of operators.
func (a *app) listen(ctx context.Context, settings config.Server) error {
	return errors.Join(a.openEdge(ctx, settings), a.openAdmin(ctx, settings))
}

// openEdge listens for visitors.
func (a *app) openEdge(ctx context.Context, settings config.Server) (err error) {
	if a.edgeListener, err = listen(ctx, "server.listen", settings.Listen); err != nil {
		return err
	}
	scheme := "http"
	if a.front.certificate != nil {
		scheme = "https"
	}
	a.Edge = baseURL(scheme, a.edgeListener)
	a.edge = proxy.NewServer(proxy.ServerSettings{
		Handler:     a.front.edge,
		HeaderBytes: int(settings.Limits.HeaderBytes),
		Connections: settings.Limits.Connections,
		ReadHeader:  settings.Timeouts.ReadHeader,
		Write:       settings.Timeouts.Write,
		Idle:        settings.Timeouts.Idle,
		Drain:       settings.Timeouts.Drain,
		OnDrain:     a.front.edge.Drain,
		Certificate: a.front.certificate,
		Logger:      a.logger,
	})
	return nil
}

// openAdmin listens for operators.
func (a *app) openAdmin(ctx context.Context, settings config.Server) (err error) {
	if a.adminListener, err = listen(ctx, "server.admin", settings.Admin); err != nil {
		return err
	}
	a.Admin = baseURL("http", a.adminListener)
	a.admin = proxy.NewServer(proxy.ServerSettings{
		Handler: &a.front.admin, HeaderBytes: int(settings.Limits.HeaderBytes),
		ReadHeader: settings.Timeouts.ReadHeader, Write: time.Minute, Idle: settings.Timeouts.Idle, Drain: time.Second,
		Logger: a.logger,
	})
	return nil
}
