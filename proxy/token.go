package proxy

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	hostPrefix    = "__Host-"
	cookiePrefix  = "foyer-"
	tokenHeader   = "Foyer-Token" //nolint:gosec // the name of a header, not a secret
	scheme        = "Foyer"
	maxCandidates = 8 // tokens looked at in one request
)

// grant is what is to become of the token that a client has.
type grant struct {
	token string // hand this one out; "": the client's own is still right
	until time.Time
	drop  bool // have the client forget its own
}

// readTokens is the step that collects a request's candidate tokens, in the order of arrival.
func readTokens(next handler) handler {
	return func(x *exchange) {
		x.findTokens()
		next(x)
	}
}

// findTokens collects the candidates for the exchange's gate.
func (x *exchange) findTokens() {
	x.tokens = nil
	for _, value := range x.r.Header["Authorization"] {
		if token, ok := schemeToken(value); ok {
			x.byHeader = true
			if token != "" {
				x.tokens = append(x.tokens, token)
			}
		}
	}
	name := x.cookieName()
	eachCookie(x.r.Header, func(cookie, value string) bool {
		if cookie == name && value != "" && len(x.tokens) < maxCandidates {
			x.tokens = append(x.tokens, value)
		}
		return true
	})
	x.both = !x.byHeader && len(x.r.Header["Cookie"]) == 0 && appLike(x.r)
}

// appLike reports whether a request is a state-changing call that no browser has sent: one that carries neither Origin
// nor Sec-Fetch headers.
func appLike(r *http.Request) bool {
	h := r.Header
	return r.Method == http.MethodPost && h.Get("Origin") == "" && h.Get("Sec-Fetch-Site") == "" &&
		h.Get("Sec-Fetch-Mode") == "" && !prefersHTML(r)
}

// secure reports whether the token's cookie is a Secure one.
func (x *exchange) secure() bool {
	switch x.gate.Cookie.Secure {
	case SecureAlways:
		return true
	case SecureNever:
		return false
	default:
		return x.client.secure
	}
}

// cookieName is the name of the gate's cookie. It is compared as bytes, never trimmed.
func (x *exchange) cookieName() string {
	if x.secure() {
		return hostPrefix + cookiePrefix + x.gate.Name
	}
	return cookiePrefix + x.gate.Name
}

// handOut puts the token into the header of an answer.
func (x *exchange) handOut(h http.Header) {
	g := x.grant
	if g.token == "" && !g.drop {
		return
	}
	if (x.byHeader || x.both) && g.token != "" {
		h.Set(tokenHeader, g.token)
	}
	if x.byHeader {
		return
	}
	cookie := http.Cookie{ // #nosec G124 -- Secure and SameSite are the configuration's
		Name: x.cookieName(), Value: g.token, Path: "/", HttpOnly: true, Secure: x.secure(), SameSite: x.gate.Cookie.SameSite,
	}
	if cookie.SameSite == 0 {
		cookie.SameSite = http.SameSiteLaxMode
	}
	switch {
	case g.drop:
		cookie.MaxAge = -1
	case !g.until.IsZero():
		cookie.MaxAge = max(1, int(math.Ceil(time.Until(g.until).Seconds())))
	}
	h.Add("Set-Cookie", cookie.String())
	keepPrivate(h)
}

// keepPrivate keeps an answer with a token out of shared caches, whatever the upstream says of it.
func keepPrivate(h http.Header) {
	control := strings.ToLower(h.Get("Cache-Control"))
	if !strings.Contains(control, "no-store") && !strings.Contains(control, "private") {
		h.Set("Cache-Control", "private, no-cache")
	}
}

// schemeToken is the token of an Authorization header of our scheme; ok is false for other schemes.
func schemeToken(value string) (token string, ok bool) {
	name, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(name, scheme) {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// eachCookie calls f with every cookie of a request as it was sent, until f says false.
func eachCookie(h http.Header, f func(name, value string) bool) {
	for _, line := range h["Cookie"] {
		for part := range strings.SplitSeq(line, ";") {
			name, value, found := strings.Cut(strings.TrimLeft(part, " "), "=")
			if found && !f(name, value) {
				return
			}
		}
	}
}

// hideTokens takes the tokens of all gates out of what an upstream gets to see.
func (t *table) hideTokens(h http.Header) {
	if lines := h["Cookie"]; len(lines) > 0 && strings.Contains(strings.Join(lines, ""), cookiePrefix) {
		var kept []string
		for _, line := range lines {
			for part := range strings.SplitSeq(line, ";") {
				part = strings.Trim(part, " \t")
				name, _, _ := strings.Cut(part, "=")
				if part != "" && !t.cookies[strings.TrimSpace(name)] {
					kept = append(kept, part)
				}
			}
		}
		h.Del("Cookie")
		if len(kept) > 0 {
			h["Cookie"] = []string{strings.Join(kept, "; ")}
		}
	}
	var kept []string
	for _, value := range h["Authorization"] {
		if _, ours := schemeToken(value); !ours {
			kept = append(kept, value)
		}
	}
	h.Del("Authorization")
	if len(kept) > 0 {
		h["Authorization"] = kept
	}
}

// ceilSeconds is d in whole seconds, rounded up, at least 1.
func ceilSeconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64((d+time.Second-1)/time.Second)), 10)
}
