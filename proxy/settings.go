package proxy

import (
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"go.uber.org/zap"

	"foyer/proxy/assertion"
)

// Settings is everything an [Edge] works by. It is read once, by New or Swap, and must not change afterwards.
type Settings struct {
	Gates  []Gate  // in the order of the file: the first that matches counts, but a gate named "default" is tried last
	Always []Route // served before any gate is matched

	Assertions []assertion.Key // sign for remote upstreams what is forwarded; none: nothing is signed

	JWKS http.Handler // answers /_foyer/jwks.json; nil: an empty key set

	TrustedProxies  []netip.Prefix // peers whose X-Forwarded-For and X-Forwarded-Proto count
	BodyBytes       int64          // the largest request body; 0: no limit
	JoinsPerAddress int            // joins a minute per /24 or /64; 0: no limit
	ReadTimeout     time.Duration  // a request body must make progress within it; 0: no limit
	WriteTimeout    time.Duration  // so must an answer; also how long a request may outlast its lease; 0: no limit

	Logger  *zap.Logger // nil: none
	Metrics *Metrics    // nil: none
}

// Check says what New and Swap would refuse.
func (s Settings) Check() error {
	_, err := newTable(s, &upstreams{})
	return err
}

// Gate is one waiting room at the edge.
type Gate struct {
	Name     string
	Match    Match
	Also     []string // path patterns that the gate matches besides, on its hosts, where no gate's own do
	Room     Room
	Upstream Upstream
	Ungated  []string // path patterns that reach an upstream in the process without a slot; see [Visit]
	Bypass   []Bypass // the first that matches wins: forwarded, and not counted
	Page     Page
	Cookie   Cookie
}

// Match says which requests are a gate's. An empty list matches everything.
type Match struct {
	Hosts []string // exact, or *.example.com for all below example.com
	Paths []string // see [Pattern]
}

// Route is an endpoint that no gate guards.
type Route struct {
	Method  string
	Path    string // see [Pattern]
	Handler http.Handler
}

// Upstream is where admitted requests go: a URL, or a handler in the process.
type Upstream struct {
	URL          *url.URL
	Handler      http.Handler
	Timeout      time.Duration // from the end of the request to the head of the answer; 0: no limit
	MaxIdleConns int           // kept open for later requests; 0: 256
	PreserveHost bool          // send the visitor's Host, not the upstream's
}

// Bypass is one rule for requests that need no slot. All its conditions must hold; an empty one always does, but a
// rule without any condition matches nothing.
type Bypass struct {
	Paths       []string
	Methods     []string
	CIDRs       []netip.Prefix
	HeaderName  string
	HeaderValue string // compared in constant time; a rule with a name and no value matches nothing
}

// Page is the waiting page of a gate.
type Page struct {
	Title     string
	Template  *template.Template // nil: the built-in page. It gets a [PageData]
	Languages []string           // of the built-in page, the first is the default; empty: all that there are
	Status    int                // of the page while one waits; 0: 200
}

// Secure says when a token's cookie is marked Secure and has the __Host- prefix.
type Secure string

// The ways to mark a cookie.
const (
	SecureAuto   Secure = "auto" // on HTTPS; also the empty value
	SecureAlways Secure = "always"
	SecureNever  Secure = "never"
)

// Cookie says how the token travels to a browser.
type Cookie struct {
	Secure   Secure
	SameSite http.SameSite // 0: Lax
}
