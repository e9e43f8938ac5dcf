package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// strictListener gives connections whose requests are framed without doubt; see framing.
type strictListener struct {
	net.Listener
	tls *tls.Config // nil: plain connections
}

func (l strictListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.tls == nil {
		return &strictConn{Conn: conn}, nil
	}
	secured := tls.Server(conn, l.tls)
	return &strictTLS{strictConn: strictConn{Conn: secured}, secured: secured}, nil
}

// strictConn is a connection that fails where it is not certain where a request ends. net/http answers with 400 and
// closes it.
type strictConn struct {
	net.Conn
	framing framing     // belongs to whoever reads, and there is one at a time
	failed  error       // set once a request was ambiguous
	raw     atomic.Bool // it does not speak HTTP/1 any more
}

func (c *strictConn) Read(p []byte) (int, error) {
	if c.failed != nil {
		return 0, c.failed
	}
	n, err := c.Conn.Read(p)
	if n == 0 || c.raw.Load() {
		return n, err
	}
	good, ambiguous := c.framing.scan(p[:n])
	if ambiguous == nil {
		return n, err
	}
	c.failed = ambiguous
	if good == 0 {
		return 0, ambiguous
	}
	return good, nil
}

// Write looks for the answer after which the connection speaks another protocol.
func (c *strictConn) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("HTTP/1.1 101 ")) {
		c.raw.Store(true)
	}
	return c.Conn.Write(p)
}

// CloseWrite ends the sending half, as net/http does before it gives up a connection.
func (c *strictConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// strictTLS is a strictConn on TLS. net/http finds out by its methods that it is one.
type strictTLS struct {
	strictConn
	secured *tls.Conn
}

// ConnectionState serves net/http.
func (c *strictTLS) ConnectionState() tls.ConnectionState { return c.secured.ConnectionState() }

// HandshakeContext serves net/http. HTTP/2 frames its requests itself.
func (c *strictTLS) HandshakeContext(ctx context.Context) error {
	if err := c.secured.HandshakeContext(ctx); err != nil {
		return err
	}
	c.raw.Store(c.secured.ConnectionState().NegotiatedProtocol == "h2")
	return nil
}
