package config

import (
	"net/netip"
	"time"
)

// UpstreamOrigin is the upstream of a gate in front of the embedded shop.
const UpstreamOrigin = "origin"

// DefaultGateName is the name of the gate that is tried last, wherever it stands in the file.
const DefaultGateName = "default"

// Gate is one waiting room.
type Gate struct {
	Name      string    `yaml:"name" required:"true"`
	Match     Match     `yaml:"match"`
	Upstream  string    `yaml:"upstream" required:"true"`                        // UpstreamOrigin, or http(s)://host:port without a path
	Capacity  int       `yaml:"capacity" min:"1" max:"10000000" required:"true"` // K: buyers inside at once, over all replicas
	AdmitRate int       `yaml:"admit_rate" min:"0" unit:"a minute"`              // offers; 0: as fast as slots free up
	Order     string    `yaml:"order" oneof:"fifo|draw"`
	OpensAt   time.Time `yaml:"opens_at"`  // zero: open from the start
	ClosesAt  time.Time `yaml:"closes_at"` // zero: never

	Session Session  `yaml:"session"`
	Queue   Queue    `yaml:"queue"`
	Bypass  []Bypass `yaml:"bypass"` // the first rule that matches counts

	OnStoreError string `yaml:"on_store_error" oneof:"hold|open|closed"`
	Mode         string `yaml:"mode" oneof:"on|off|paused|shadow" bool:"on|off"`
	Page         Page   `yaml:"page"`
	Cookie       Cookie `yaml:"cookie"`
}

// Match says which requests a gate is for. An empty list matches any.
type Match struct {
	Hosts []string `yaml:"hosts"` // lower case; exact or *.example.com
	Paths []string `yaml:"paths"` // patterns over the canonical path: ** crosses slashes, * does not
}

// Session bounds a buyer's stay.
type Session struct {
	Idle     time.Duration `yaml:"idle" min:"1s"`
	Max      time.Duration `yaml:"max" min:"1s"`
	Claim    time.Duration `yaml:"claim" min:"1s"`
	Inflight int           `yaml:"inflight" min:"1"` // requests at once on one pass
}

// Queue bounds the line.
type Queue struct {
	Max     int           `yaml:"max" min:"1"` // so many may wait
	Keep    time.Duration `yaml:"keep" min:"1s"`
	Returns int           `yaml:"returns" min:"0"`
	Poll    Poll          `yaml:"poll"`
}

// Poll bounds the interval that a waiting visitor is told.
type Poll struct {
	Min time.Duration `yaml:"min" min:"100ms"`
	Max time.Duration `yaml:"max" min:"100ms"`
}

// Bypass lets requests through uncounted. A request matches when it matches every criterion that is given.
type Bypass struct {
	Paths   []string       `yaml:"paths"`
	Methods []string       `yaml:"methods"`
	CIDRs   []netip.Prefix `yaml:"cidrs"`
	Header  *BypassHeader  `yaml:"header"`
}

// BypassHeader is a request header whose value opens the gate.
type BypassHeader struct {
	Name  string `yaml:"name" required:"true"`
	Value Secret `yaml:"value" required:"true"`
}

// Page is the waiting page.
type Page struct {
	Title     string   `yaml:"title"`    // empty: the gate's name
	Template  string   `yaml:"template"` // an html/template file; empty: the built-in page
	Languages []string `yaml:"languages"`
	Status    int      `yaml:"status" oneof:"200|202|429|503"`
}

// Cookie says how the token cookie is set.
type Cookie struct {
	Secure   string `yaml:"secure" oneof:"auto|true|false" bool:"true|false"` // auto: as the request came in
	SameSite string `yaml:"samesite" oneof:"lax|strict|none"`
}

// DefaultGate is a gate with every default, without a name, an upstream and a capacity.
func DefaultGate() Gate {
	return Gate{
		Order:   "fifo",
		Session: Session{Idle: 2 * time.Minute, Max: 15 * time.Minute, Claim: 20 * time.Second, Inflight: 32},
		Queue: Queue{Max: 1_000_000, Keep: 2 * time.Hour, Returns: 2,
			Poll: Poll{Min: 2 * time.Second, Max: 30 * time.Second}},
		OnStoreError: "hold",
		Mode:         "on",
		Page:         Page{Languages: []string{"en", "de", "fr", "es"}, Status: 200},
		Cookie:       Cookie{Secure: "auto", SameSite: "lax"},
	}
}
