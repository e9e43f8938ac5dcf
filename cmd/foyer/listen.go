package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"
)

// listen opens a TCP listener; port 0 takes a free one. key is what gave the address: of the configuration, or a flag.
func listen(ctx context.Context, key, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open %s at %s: %w; %s", key, address, err, listenMend(err))
	}
	return listener, nil
}

// listenMend is what helps where an address cannot be had.
func listenMend(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop what listens there, or choose another address"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "choose an address that this machine has, or only :port for all it has"
	case errors.Is(err, syscall.EACCES):
		return "choose a port from 1024 on, or allow this one (CAP_NET_BIND_SERVICE)"
	}
	return "choose another address, as host:port"
}

// baseURL is how a listener is reached from this machine.
func baseURL(scheme string, listener net.Listener) string {
	address := listener.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(address.Port))
}

// serveUntil answers on the listener until ctx ends, and then lets the requests in flight finish, for as long as drain.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, drain time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := server.Shutdown(finish)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // whoever is still at it has had the time that was promised
	}
	if err != nil {
		return fmt.Errorf("drain %s: %w", listener.Addr(), err)
	}
	return nil
}

// plainServer is an HTTP server for a listener that only this machine, or an operator, reaches.
func plainServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 75 * time.Second}
}

// isTerminal reports whether people look at what is written to w.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
