package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// stripeMock is built from the module proxy and no dependency of this module (docs/adr/0006). Its description of the
	// API is newer than the version that the client speaks.
	stripeMock = "github.com/stripe/stripe-mock@v0.203.0"
	// buildTimeout is for downloading and building it on a busy machine, the first time; then it is in Go's caches.
	buildTimeout = 5 * time.Minute
)

// StripeMock starts stripe-mock for one test and returns its URL. It is Stripe's own server for tests: it checks each
// request against the published description of the API, answers from fixtures, and remembers nothing.
func StripeMock(t TB) string {
	t.Helper()
	p, err := newProcess("stripe-mock", nil)
	if err != nil {
		t.Fatalf("a stripe-mock for this test: %v", err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Errorf("tidy up: %v", err)
		}
	})
	url, err := startStripeMock(context.Background(), p)
	if err != nil {
		t.Fatalf("a stripe-mock for this test: %v", err)
	}
	return url
}

func startStripeMock(ctx context.Context, p *process) (string, error) {
	if err := buildStripeMock(ctx, p.dir); err != nil {
		return "", err
	}
	var address string
	err := p.startOnFreePort(func(port int) error {
		address = loopback(port)
		// It listens for HTTPS as well, on a fixed port unless told another.
		if err := p.start(filepath.Join(p.dir, "stripe-mock"), "-http-addr", address, "-https-addr", loopback(0)); err != nil {
			return err
		}
		return p.await(ctx, func(ctx context.Context) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return conn.Close()
		})
	})
	return "http://" + address, err
}

// buildStripeMock puts the program into a folder.
func buildStripeMock(ctx context.Context, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "install", stripeMock)
	build.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=", "GOOS=", "GOARCH=", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("build %s, which needs the Go module proxy: %w", stripeMock, err), errors.New(string(output)))
	}
	return nil
}
