package proxy

import (
	"net/http"
	"strings"
)

// allowed are the methods that an upstream ever gets to see.
var allowed = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true,
	http.MethodDelete: true, http.MethodOptions: true,
}

// allowHeader lists them for an Allow header.
const allowHeader = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// untrusted are headers in which proxies tell of the client. They count only from a trusted peer.
var untrusted = []string{
	"Forwarded", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
}

// dropped are headers that let a client give an upstream another method, path or protocol than the gate saw.
var dropped = []string{"Http2-Settings", "X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// clean removes from a client's headers everything that an upstream may read in another way than we do: names with
// characters outside [A-Za-z0-9-] (X_Foyer_Ticket reads like X-Foyer-Ticket to many), our own names, overrides of
// method and path, upgrades other than to websocket, and, from an untrusted peer, what only a proxy may say.
func clean(h http.Header, trusted bool) {
	for name := range h {
		if !plainName(name) || hasAnyPrefix(name, "X-Foyer-", "Foyer-", "X-Original-", "X-Rewrite-") ||
			!trusted && strings.HasPrefix(name, "X-Forwarded-") {
			delete(h, name)
		}
	}
	for _, name := range dropped {
		h.Del(name)
	}
	if !trusted {
		for _, name := range untrusted {
			h.Del(name)
		}
	}
	if up := h["Upgrade"]; len(up) > 0 && (len(up) > 1 || !strings.EqualFold(up[0], "websocket")) {
		h.Del("Upgrade")
	}
}

// plainName reports whether a header's name is of letters, digits and hyphens alone.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '-' && (!unreserved(c) || strings.IndexByte("._~", c) >= 0) {
			return false
		}
	}
	return true
}

// hasAnyPrefix compares without regard to case: a name that is not valid is not canonicalised by net/http.
func hasAnyPrefix(name string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}
