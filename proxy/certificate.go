package proxy

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// Certificate is the certificate of a server and its key, which can be exchanged while the server runs.
type Certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// LoadCertificate reads both from PEM files.
func LoadCertificate(cert, key string) (*Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	c := &Certificate{}
	c.current.Store(&pair)
	return c, nil
}

// Replace has new connections get what another Certificate holds.
func (c *Certificate) Replace(by *Certificate) { c.current.Store(by.current.Load()) }

// get serves tls.Config.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
