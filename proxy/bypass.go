package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
)

// bypassRule is a Bypass with its patterns read.
type bypassRule struct {
	Bypass
	paths []Pattern
}

// newBypassRule reads a rule.
func newBypassRule(plain Bypass) (bypassRule, error) {
	paths, err := newPatterns(plain.Paths)
	return bypassRule{Bypass: plain, paths: paths}, err
}

// matches reports whether all conditions of the rule hold for an exchange.
func (b bypassRule) matches(x *exchange) bool {
	if len(b.paths)+len(b.Methods)+len(b.CIDRs) == 0 && b.HeaderName == "" {
		return false
	}
	return (len(b.paths) == 0 || anyMatches(b.paths, x.path.Decoded)) &&
		(len(b.Methods) == 0 || slices.Contains(b.Methods, x.r.Method)) &&
		(len(b.CIDRs) == 0 || anyContains(b.CIDRs, x.client.addr)) &&
		(b.HeaderName == "" || b.HeaderValue != "" && sameSecret(x.r.Header.Get(b.HeaderName), b.HeaderValue))
}

// sameSecret compares in a time that depends on neither value.
func sameSecret(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
