package config

import (
	"net/netip"
	"strings"
	"time"
)

// Config is a whole foyer.yaml, defaults filled in.
//
// Field tags say how a key is read: yaml is its name, oneof the words it may be, min and max its bounds, bool the words
// that true and false stand for, unit what a number counts, and change says "restart" where a running foyer cannot take over another value.
// [Settings] lists them all.
type Config struct {
	Server    Server              `yaml:"server"`
	Store     Store               `yaml:"store" change:"restart"`
	Tokens    Tokens              `yaml:"tokens"`
	Gates     []Gate              `yaml:"gates"`
	Upstreams map[string]Upstream `yaml:"upstreams"` // by the URL a gate names; see Config.Upstream
	Origin    *Origin             `yaml:"origin"`    // nil: the proxy alone
}

// Server is what foyer listens on and the limits of a connection.
type Server struct {
	Listen         string         `yaml:"listen" change:"restart"` // the edge: what visitors reach
	Admin          string         `yaml:"admin" change:"restart"`  // health, metrics, dashboard, admin API
	AdminToken     Secret         `yaml:"admin_token"`             // empty: none asked for
	TLS            TLS            `yaml:"tls"`
	TrustedProxies []netip.Prefix `yaml:"trusted_proxies"` // whose X-Forwarded-For and X-Forwarded-Proto count
	Limits         Limits         `yaml:"limits"`
	Timeouts       Timeouts       `yaml:"timeouts"`
	Log            Log            `yaml:"log"`
}

// TLS names the certificate of the edge and its key, PEM files; both are empty for plain HTTP.
type TLS struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Limits bound what one client can take.
type Limits struct {
	HeaderBytes     Size `yaml:"header_bytes" min:"1KiB" max:"16MiB" change:"restart"`
	BodyBytes       Size `yaml:"body_bytes" min:"1B"`
	Connections     int  `yaml:"connections" min:"1" change:"restart"`
	JoinsPerAddress int  `yaml:"joins_per_address" min:"0" unit:"a minute"` // per /24 or /64; 0: off
}

// Timeouts bound how long one request may take.
type Timeouts struct {
	ReadHeader time.Duration `yaml:"read_header" min:"1ms" change:"restart"`
	Read       time.Duration `yaml:"read" min:"1ms"`
	Write      time.Duration `yaml:"write" min:"1ms" change:"restart"`
	Idle       time.Duration `yaml:"idle" min:"1ms" change:"restart"`
	Drain      time.Duration `yaml:"drain" min:"0s" change:"restart"` // how long a shutdown waits for requests in flight
}

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level" oneof:"debug|info|warn|error"`
	Format string `yaml:"format" oneof:"json|console" change:"restart"`
}

// Store names where the line, the leases and the ledger live.
type Store struct {
	Redis     DSN    `yaml:"redis"`      // empty: the line and the leases live in this process
	Postgres  DSN    `yaml:"postgres"`   // empty: SQLite
	SQLite    string `yaml:"sqlite"`     // a file, or ":memory:"
	StateFile string `yaml:"state_file"` // the last snapshot of the line; empty: none is kept
}

// Tokens are the keys that sign queue tokens and passes.
type Tokens struct {
	Keys   []Key         `yaml:"keys"`            // the first signs, all verify; empty: make one for the life of the process
	Leeway time.Duration `yaml:"leeway" min:"0s"` // at most a quarter of every gate's claim
}

// Key is one signing key: either a secret (HS256) or a private key file (EdDSA).
type Key struct {
	ID          string `yaml:"id" required:"true"`
	Secret      Secret `yaml:"secret"`
	Ed25519File string `yaml:"ed25519_file"`
}

// Upstream tunes the connections to one storefront.
type Upstream struct {
	Timeout      time.Duration `yaml:"timeout" min:"1ms"` // until the answer's header
	MaxIdleConns int           `yaml:"max_idle_conns" min:"0"`
	PreserveHost bool          `yaml:"preserve_host"` // pass the visitor's Host on
}

// defaultLeeway is the leeway where every gate's claim is long enough for it.
const defaultLeeway = 5 * time.Second

// Default is a configuration with every default and no gate.
func Default() Config {
	return Config{
		Server: Server{
			Listen:   ":8080",
			Admin:    "127.0.0.1:9090",
			Limits:   Limits{HeaderBytes: 32 * KiB, BodyBytes: 10 * MiB, Connections: 50000},
			Timeouts: defaultTimeouts(),
			Log:      Log{Level: "info", Format: "json"},
		},
		Store:  Store{SQLite: "foyer.db", StateFile: "foyer.state"},
		Tokens: Tokens{Leeway: defaultLeeway},
	}
}

// DefaultUpstream is the tuning of a storefront that has none of its own.
func DefaultUpstream() Upstream {
	return Upstream{Timeout: 30 * time.Second, MaxIdleConns: 256, PreserveHost: true}
}

// Upstream is the tuning of the storefront at url, as a gate names it.
func (c *Config) Upstream(url string) Upstream {
	for name, tuned := range c.Upstreams {
		if strings.TrimSuffix(name, "/") == strings.TrimSuffix(url, "/") {
			return tuned
		}
	}
	return DefaultUpstream()
}

func defaultTimeouts() Timeouts {
	return Timeouts{
		ReadHeader: 10 * time.Second,
		Read:       60 * time.Second,
		Write:      120 * time.Second,
		Idle:       75 * time.Second,
		Drain:      30 * time.Second,
	}
}
