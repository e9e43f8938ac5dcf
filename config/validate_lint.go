package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// assetsMend is a bypass that suits most storefronts.
const assetsMend = "write bypass: [{paths: [/assets/**, /favicon.ico, /robots.txt]}, {methods: [POST], paths: [/webhooks/**]}], with your own paths"

// lint notes what works and is seldom meant.
func (v *validator) lint() {
	for i := range v.cfg.Gates {
		at, gate := fmt.Sprintf("gates[%d]", i), &v.cfg.Gates[i]
		if gate.Mode != "off" && gate.Upstream != UpstreamOrigin {
			v.lintPaths(at, gate)
		}
		v.lintRate(at, gate)
		v.lintCookie(at, gate)
	}
	v.lintProxy("server.trusted_proxies")
}

// lintPaths warns of what has no business in a line: files that a page is made of, and calls of other servers.
func (v *validator) lintPaths(at string, g *Gate) {
	if !v.sound(at+".match", at+".bypass") || slices.ContainsFunc(g.Bypass, func(b Bypass) bool { return len(b.Paths) > 0 }) {
		return
	}
	if everything := allCovered(g.Match.Paths, []string{"/**"}, pathCovers); everything {
		v.warning(at+".bypass", "the gate matches every path, and lets no path bypass it: assets and webhooks need a slot, too", assetsMend)
		return
	}
	for i, pattern := range g.Match.Paths {
		if kind := kindOfPath(pattern); kind != "" {
			v.warning(fmt.Sprintf("%s.match.paths[%d]", at, i), fmt.Sprintf("%s need a slot, too", kind), assetsMend)
		}
	}
}

// kindOfPath says what the name of a path tells of it; empty for nothing.
func kindOfPath(pattern string) string {
	for part := range strings.SplitSeq(strings.ToLower(pattern), "/") {
		switch part {
		case "assets", "static", "css", "js", "img", "images", "fonts", "media", "favicon.ico", "robots.txt":
			return "assets"
		case "webhook", "webhooks", "hooks", "callback", "callbacks", "ipn":
			return "webhooks, whose senders do not wait in line,"
		}
	}
	return ""
}

// lintRate warns of a capacity that the rate can never fill, however long buyers stay.
func (v *validator) lintRate(at string, g *Gate) {
	if g.AdmitRate == 0 || !v.sound(at+".admit_rate", at+".capacity", at+".session.max") {
		return
	}
	if most := float64(g.AdmitRate) * g.Session.Max.Minutes(); most < float64(g.Capacity) {
		v.warning(at+".admit_rate", fmt.Sprintf("lets at most %.0f buyers be inside at once, in the %s that each may stay: capacity %d is never reached",
			most, writtenDuration(g.Session.Max), g.Capacity),
			fmt.Sprintf("write at least %d, or a capacity that is meant", (int64(g.Capacity)*int64(time.Minute)+int64(g.Session.Max)-1)/int64(g.Session.Max)))
	}
}

// lintCookie warns of cookies that do not fit how visitors reach foyer.
func (v *validator) lintCookie(at string, g *Gate) {
	key := at + ".cookie.secure"
	if !v.sound(key, "server.tls", "server.trusted_proxies") {
		return
	}
	tls, proxied := v.cfg.Server.TLS.Cert != "", len(v.cfg.Server.TrustedProxies) > 0
	switch {
	case g.Cookie.Secure == "true" && !tls && !proxied:
		v.warning(key, "is true, and visitors come by plain HTTP: their browsers drop the cookie, and every request is a new visitor",
			"set server.tls, or server.trusted_proxies if a proxy in front ends TLS; or write auto")
	case g.Cookie.Secure == "false" && tls:
		v.warning(key, "is false, and there is TLS: the token would travel by plain HTTP, too", "write auto")
	}
}

// lintProxy warns of a proxy that must be there and is not trusted: who listens on loopback is reached by one on the same
// machine.
func (v *validator) lintProxy(key string) {
	s := v.cfg.Server
	if !v.sound("server.listen", key, "server.tls") || !v.written("server.listen") || v.written(key) ||
		!loopback(s.Listen) || portOf(s.Listen) == "0" || s.TLS.Cert != "" {
		return
	}
	v.warning("server.listen", "is reached from this machine alone: behind a proxy that is not trusted, all visitors count as one address, and cookies are not Secure",
		"write server.trusted_proxies: [127.0.0.1/32, \"::1/128\"], or [] if there is no proxy")
}
