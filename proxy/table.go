package proxy

import (
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"foyer/proxy/assertion"
)

// lastGate is the name of the gate that is tried after all others.
const lastGate = "default"

// table is the settings in the form that requests are judged by. It never changes; a reload makes another.
type table struct {
	gates   []*gate // in the order of trial
	byName  map[string]*gate
	always  []route
	cookies map[string]bool // names of the token cookies of all gates
	jwks    http.Handler
	signers []assertion.Key

	trusted      []netip.Prefix
	bodyBytes    int64
	joins        *limiter // nil: no limit
	readTimeout  time.Duration
	writeTimeout time.Duration

	logger  *zap.Logger
	metrics *Metrics
}

// gate is a Gate with its patterns read.
type gate struct {
	Gate
	paths    []Pattern
	also     []Pattern
	ungated  []Pattern
	bypass   []bypassRule
	page     *page
	upstream http.Handler      // what an admitted exchange is handed to
	signer   *assertion.Signer // tells a remote one that it came from here; nil: nothing does
}

// route is a Route with its pattern read.
type route struct {
	Route
	pattern Pattern
}

// newTable reads the settings. Upstreams that before has already are taken over with their open connections.
func newTable(s Settings, pool *upstreams) (*table, error) {
	t := &table{
		byName: map[string]*gate{}, cookies: map[string]bool{}, jwks: s.JWKS, signers: s.Assertions, trusted: s.TrustedProxies,
		bodyBytes: s.BodyBytes, readTimeout: s.ReadTimeout, writeTimeout: s.WriteTimeout, logger: s.Logger, metrics: s.Metrics,
	}
	if t.logger == nil {
		t.logger = zap.NewNop()
	}
	if t.jwks == nil {
		t.jwks = http.HandlerFunc(noKeys)
	}
	if s.JoinsPerAddress > 0 {
		t.joins = newLimiter(s.JoinsPerAddress)
	}
	for _, r := range s.Always {
		pattern, err := NewPattern(r.Path)
		if err != nil {
			return nil, err
		}
		t.always = append(t.always, route{Route: r, pattern: pattern})
	}
	var last []*gate
	for _, plain := range s.Gates {
		g, err := newGate(plain, pool, t)
		if err != nil {
			return nil, fmt.Errorf("build gate %s: %w", plain.Name, err)
		}
		if t.byName[g.Name] != nil {
			return nil, fmt.Errorf("build gate %s: there are two of the name", g.Name)
		}
		t.byName[g.Name] = g
		t.cookies[cookiePrefix+g.Name], t.cookies[hostPrefix+cookiePrefix+g.Name] = true, true
		if g.Name == lastGate {
			last = append(last, g)
		} else {
			t.gates = append(t.gates, g)
		}
	}
	t.gates = append(t.gates, last...)
	return t, nil
}

// inherit takes over from the table before what a change of settings must not forget: the joins of the last minute. nil
// is none.
func (t *table) inherit(before *table) {
	if before != nil && before.joins != nil && t.joins != nil && before.joins.burst == t.joins.burst {
		t.joins = before.joins
	}
}

// newGate reads one gate.
func newGate(plain Gate, pool *upstreams, t *table) (*gate, error) {
	g := &gate{Gate: plain}
	var err error
	if g.paths, err = newPatterns(plain.Match.Paths); err != nil {
		return nil, err
	}
	if g.also, err = newPatterns(plain.Also); err != nil {
		return nil, err
	}
	if g.ungated, err = newPatterns(plain.Ungated); err != nil {
		return nil, err
	}
	if g.page, err = newPage(plain.Name, plain.Page); err != nil {
		return nil, err
	}
	for _, rule := range plain.Bypass {
		read, err := newBypassRule(rule)
		if err != nil {
			return nil, err
		}
		g.bypass = append(g.bypass, read)
	}
	switch {
	case plain.Room == nil:
		return nil, fmt.Errorf("it has no room")
	case plain.Upstream.Handler != nil:
		g.upstream = &inProcess{handler: plain.Upstream.Handler}
	case plain.Upstream.URL != nil && plain.Upstream.URL.Host != "":
		g.upstream = pool.get(plain.Upstream, t.logger)
		g.signer = assertion.NewSigner(t.signers, plain.Upstream.URL.String())
	default:
		return nil, fmt.Errorf("it has no upstream")
	}
	return g, nil
}

// match is the first gate that a host and a path belong to, or nil.
func (t *table) match(host Host, path Path) *gate {
	for _, g := range t.gates {
		if g.matches(host, path) {
			return g
		}
	}
	return nil
}

// matchAlso are the gates that a host and a path belong to where match finds none, in the order of trial.
func (t *table) matchAlso(host Host, path Path) []*gate {
	var found []*gate
	for _, g := range t.gates {
		if g.named(host) && anyMatches(g.also, path.Decoded) {
			found = append(found, g)
		}
	}
	return found
}

// matches reports whether a host and a path are the gate's.
func (g *gate) matches(host Host, path Path) bool {
	return g.named(host) && (len(g.paths) == 0 || anyMatches(g.paths, path.Decoded))
}

// named reports whether a host is one of the gate's.
func (g *gate) named(host Host) bool {
	return len(g.Match.Hosts) == 0 || g.hostPattern(host) != ""
}

// noKeys answers for a key set without public keys.
func noKeys(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, "application/jwk-set+json", []byte("{\"keys\":[]}\n"))
}
