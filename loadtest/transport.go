package loadtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// TransportSettings say how a crowd connects.
type TransportSettings struct {
	// Connections to keep open to one host; a crowd shares them. At least 1.
	Connections int
	// Anywhere lifts the rule that load goes to loopback addresses only.
	Anywhere bool
}

// NewTransport makes the one transport that a whole crowd shares. Each visitor has a cookie jar of its own above it, so
// sharing connections mixes nothing up, as behind an HTTP proxy of an office.
func NewTransport(settings TransportSettings) *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !settings.Anywhere {
		dialer.Control = onlyLoopback
	}
	return &http.Transport{
		DialContext:           dialer.DialContext,
		MaxIdleConns:          settings.Connections,
		MaxIdleConnsPerHost:   settings.Connections,
		MaxConnsPerHost:       settings.Connections,
		IdleConnTimeout:       time.Minute,
		ResponseHeaderTimeout: 30 * time.Second,
		DisableCompression:    true,
	}
}

// onlyLoopback is asked with the address as it was resolved, right before the connection is made, so that no name and
// no redirect can lead elsewhere.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not a loopback address: load is sent to this machine only", address)
	}
	return nil
}

// Warm opens n connections to url and leaves them idle in the transport, so that a measurement after it pays for no
// handshake. It needs a handler that answers n requests at once.
func Warm(ctx context.Context, transport *http.Transport, url string, n int) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				errs <- err
				return
			}
			answer, err := transport.RoundTrip(request)
			if err != nil {
				errs <- err
				return
			}
			drain(answer)
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return fmt.Errorf("warm up %s: %w", url, err)
	default:
		return nil
	}
}

// drain reads an answer to its end, so that its connection can be used again.
func drain(answer *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
}
