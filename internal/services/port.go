package services

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which Linux takes those of outgoing connections (32768 and up), so that
// none is lost to a client while a server restarts.
const (
	lowestPort  = 15_000
	highestPort = 32_000
)

// FreePort is a loopback port on which nothing listens, for a program that a test starts on it, and may start again.
func FreePort(t TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return port
}

// freePort returns a loopback port on which nothing listens. Somebody else may take it before the caller does.
func freePort() (int, error) {
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("free port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, errors.New("find a free loopback port: none in a hundred tries")
}

// startOnFreePort calls start with one free port after the other until it succeeds, a few times: another process may
// have been faster.
func (p *process) startOnFreePort(start func(port int) error) error {
	var failures []error
	for range 3 {
		port, err := freePort()
		if err != nil {
			return errors.Join(append(failures, err)...)
		}
		if err = start(port); err == nil {
			return nil
		}
		failures = append(failures, err)
		if err := p.kill(); err != nil {
			return errors.Join(append(failures, err)...)
		}
	}
	return errors.Join(failures...)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
