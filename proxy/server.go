package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
	"golang.org/x/net/netutil"
)

// lull is how long a server that is about to stop goes on accepting, while it asks its clients to come back on another
// connection.
const lull = time.Second

// ServerSettings is how a listener is served. A limit of 0 is none.
type ServerSettings struct {
	Handler     http.Handler
	HeaderBytes int
	Connections int
	ReadHeader  time.Duration // from the first byte of a request to the end of its header
	Write       time.Duration // from there to the end of the answer; what an Edge forwards has limits of its own
	Idle        time.Duration // between two requests of a connection
	Drain       time.Duration // how long requests in flight may take once the server is to stop
	OnDrain     func()        // called when it is to stop; nil: nothing
	Certificate *Certificate  // nil: plain HTTP
	Logger      *zap.Logger   // nil: none
}

// Server serves one listener: HTTP/1.1 and, on TLS, HTTP/2.
type Server struct {
	settings ServerSettings
	http     *http.Server
}

// NewServer makes a server.
func NewServer(s ServerSettings) *Server {
	if s.Logger == nil {
		s.Logger = zap.NewNop()
	}
	server := &http.Server{
		Handler:           s.Handler,
		MaxHeaderBytes:    s.HeaderBytes,
		ReadHeaderTimeout: s.ReadHeader,
		WriteTimeout:      s.Write,
		IdleTimeout:       s.Idle,
		ErrorLog:          redacted(s.Logger),
		Protocols:         new(http.Protocols),
		// OPTIONS * is answered, and logged, like all else that names no path.
		DisableGeneralOptionsHandler: true,
	}
	server.Protocols.SetHTTP1(true)
	if s.Certificate != nil {
		server.Protocols.SetHTTP2(true)
		server.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: s.Certificate.get, NextProtos: []string{"h2", "http/1.1"},
		}
	}
	return &Server{settings: s, http: server}
}

// Serve serves until the context ends, and then until what is in flight is answered, or Drain has passed. It closes the
// listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if s.settings.Connections > 0 {
		listener = netutil.LimitListener(listener, s.settings.Connections)
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.http.BaseContext = func(net.Listener) context.Context { return base }
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(strictListener{listener, s.http.TLSConfig}) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err := s.stop()
	cancel()
	<-served
	return err
}

// stop drains and shuts down. Whatever is still in flight after Drain is cut off, which is not an error.
func (s *Server) stop() error {
	if s.settings.OnDrain != nil {
		s.settings.OnDrain()
	}
	time.Sleep(min(lull, s.settings.Drain/10))
	ctx, cancel := context.WithTimeout(context.Background(), s.settings.Drain)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.settings.Logger.Warn("requests cut off", zap.Duration("after", s.settings.Drain))
		err = s.http.Close()
	}
	if err != nil {
		return fmt.Errorf("stop server: %w", err)
	}
	return nil
}
