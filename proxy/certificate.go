package proxy

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// Certificate is a certificate and its key, read from PEM files, that can be read anew while the server runs.
type Certificate struct {
	cert, key string
	current   atomic.Pointer[tls.Certificate]
}

// LoadCertificate reads both files.
func LoadCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	return c, c.Reload()
}

// Reload reads the files again; new connections get what they hold now. On an error nothing has changed.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	c.current.Store(&pair)
	return nil
}

// get serves tls.Config.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
