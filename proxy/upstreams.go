package proxy

import (
	"net"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	dialTimeout      = 5 * time.Second
	idleTimeout      = 90 * time.Second
	defaultIdle      = 256
	bufferSize       = 32 << 10
	maxUpstreamHead  = 256 << 10
	handshakeTimeout = 10 * time.Second
)

// upstreams are the remote upstreams in use, so that a reload keeps their open connections.
type upstreams struct {
	inUse map[upstreamKey]*remote
}

// upstreamKey tells upstreams apart.
type upstreamKey struct {
	url      string
	timeout  time.Duration
	idle     int
	preserve bool
}

func keyOf(u Upstream) upstreamKey {
	return upstreamKey{url: u.URL.String(), timeout: u.Timeout, idle: u.MaxIdleConns, preserve: u.PreserveHost}
}

// get is the upstream with these settings, the one in use if there is one.
func (p *upstreams) get(u Upstream, logger *zap.Logger) *remote {
	if p.inUse == nil {
		p.inUse = map[upstreamKey]*remote{}
	}
	key := keyOf(u)
	if p.inUse[key] == nil {
		p.inUse[key] = newRemote(u, logger)
	}
	return p.inUse[key]
}

// keep forgets the upstreams that a table does not use. Their idle connections are closed; requests in flight finish.
func (p *upstreams) keep(t *table) {
	used := map[*remote]bool{}
	for _, g := range t.gates {
		if r, ok := g.upstream.(*remote); ok {
			used[r] = true
		}
	}
	for key, r := range p.inUse {
		if !used[r] {
			delete(p.inUse, key)
			r.close()
		}
	}
}

// newTransport is tuned for many requests to one upstream.
func newTransport(u Upstream) *http.Transport {
	idle := u.MaxIdleConns
	if idle == 0 {
		idle = defaultIdle
	}
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    handshakeTimeout,
		ResponseHeaderTimeout:  u.Timeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxUpstreamHead,
		DisableCompression:     true, // what is compressed passes through as it is
		ForceAttemptHTTP2:      true,
		WriteBufferSize:        bufferSize,
		ReadBufferSize:         bufferSize,
	}
}

// buffers are what bodies are copied through.
var buffers = &bufferPool{pool: sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}}

// bufferPool serves httputil.ReverseProxy.
type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) Get() []byte { return *p.pool.Get().(*[]byte) }

func (p *bufferPool) Put(b []byte) { p.pool.Put(&b) }
