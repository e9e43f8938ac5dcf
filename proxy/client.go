package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

const (
	maxHops    = 32  // how many forwarded addresses are looked at
	maxVisitor = 128 // how long the name of a visitor may be
)

// client is who sent a request, as far as the trusted proxies before us can tell.
type client struct {
	addr    netip.Addr   // the visitor's
	hops    []netip.Addr // the trusted proxies between the visitor and us, from the outside in
	trusted bool         // the peer is one of them, so what it forwards counts
	secure  bool         // the visitor speaks HTTPS
	visitor string       // who it is, by the word of a trusted proxy; "" where it does not say
}

// trace finds the client of a request: from the peer through the forwarded chain, from the right, as long as those
// who wrote it are trusted. An address that cannot be read ends the walk at whoever reported it.
func trace(r *http.Request, trusted []netip.Prefix) client {
	c := client{addr: peer(r.RemoteAddr), secure: r.TLS != nil}
	if !anyContains(trusted, c.addr) {
		return c
	}
	c.trusted = true
	if names := r.Header["X-Foyer-Visitor"]; len(names) == 1 && len(names[0]) <= maxVisitor {
		c.visitor = names[0]
	}
	chain := forwardedFor(r.Header["X-Forwarded-For"])
	for i := len(chain) - 1; i >= 0 && anyContains(trusted, c.addr); i-- {
		addr, err := netip.ParseAddr(strings.TrimSpace(chain[i]))
		if err != nil {
			break
		}
		c.hops = append(c.hops, c.addr)
		c.addr = addr.Unmap().WithZone("")
	}
	slices.Reverse(c.hops)
	if protos := r.Header["X-Forwarded-Proto"]; len(protos) > 0 {
		_, last, found := cutLast(protos[len(protos)-1], ",")
		if !found {
			last = protos[len(protos)-1]
		}
		c.secure = strings.EqualFold(strings.TrimSpace(last), "https")
	}
	return c
}

// chain is what the next server gets as X-Forwarded-For: the client and the trusted proxies behind it.
func (c client) chain() string {
	if len(c.hops) == 0 {
		return c.addr.String()
	}
	var b strings.Builder
	b.WriteString(c.addr.String())
	for _, hop := range c.hops {
		b.WriteString(", ")
		b.WriteString(hop.String())
	}
	return b.String()
}

// group is the network that a client is counted by, and the most that is ever logged of it: its /24 or /64.
func (c client) group() netip.Prefix {
	bits := 24
	if c.addr.Is6() {
		bits = 64
	}
	prefix, err := c.addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// peer is the address at the other end of the connection.
func peer(remote string) netip.Addr {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	return addr.Unmap().WithZone("")
}

// forwardedFor is the last entries of a forwarded chain, in order.
func forwardedFor(values []string) []string {
	var chain []string
	for i := len(values) - 1; i >= 0 && len(chain) < maxHops; i-- {
		rest, last, found := values[i], "", true
		for found && len(chain) < maxHops {
			if rest, last, found = cutLast(rest, ","); !found {
				last = rest
			}
			chain = append(chain, last)
		}
	}
	slices.Reverse(chain)
	return chain
}

// cutLast cuts s around the last sep; without one found is false and before is s.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// anyContains reports whether one of the prefixes contains addr.
func anyContains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
