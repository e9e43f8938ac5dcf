package proxy

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// patience is how long a replica that has not heard from its store counts as starting. After it, it serves what it can.
const patience = 10 * time.Second

// kindForbidden and kindUnauthorized are answers of the admin listener alone.
var (
	kindForbidden    = kind{"forbidden", http.StatusForbidden, "Wrong Host or Origin"}
	kindUnauthorized = kind{"unauthorized", http.StatusUnauthorized, "The admin token is missing or wrong"}
)

// protect is what stands before every admin call: Host and Origin, so that no web page can have the operator's browser
// call it under a name of its own; the token; and a line in the log for what may change something. The probes are open,
// since they tell nothing, and so is the operator's page, which holds no data.
func (a *Admin) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		probe := r.URL.Path == "/livez" || r.URL.Path == "/readyz"
		switch {
		case probe:
			next.ServeHTTP(w, r)
		case !a.knows(r.Host) || !sameSite(r):
			complain(w, kindForbidden, "")
		case r.URL.Path != "/" && a.settings.Token != "" && !bears(r, a.settings.Token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			complain(w, kindUnauthorized, "")
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			next.ServeHTTP(w, r)
		default:
			a.audit(w, r, next)
		}
	})
}

// knows reports whether the listener may be called by this name. An address cannot be rebound to, as a name can.
func (a *Admin) knows(hostport string) bool {
	host, err := canonicalHost(hostport, false)
	if err != nil {
		return false
	}
	if _, err := netip.ParseAddr(strings.Trim(host.Name, "[]")); err == nil {
		return true
	}
	return host.Name == "localhost" || slices.Contains(a.settings.Hosts, host.Name)
}

// sameSite reports whether a call comes from no web page, or from one of this listener.
func sameSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// bears reports whether a call carries the token.
func bears(r *http.Request, token string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && sameSecret(strings.TrimSpace(got), token)
}

// audit serves a call that may change something, and logs who asked for what.
func (a *Admin) audit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxChange))
	if err != nil {
		complain(w, kindTooLarge, "")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	seen := &answer{ResponseWriter: w, settle: func(http.Header) {}}
	next.ServeHTTP(seen, r)
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	a.settings.Logger.Info("admin call", zap.String("method", r.Method), zap.String("path", printable(r.URL.Path)),
		zap.String("change", printable(string(body))), zap.Int("status", seen.status),
		zap.Stringer("network", client{addr: peer(host)}.group()), zap.String("agent", printable(r.UserAgent())),
		zap.Bool("token", a.settings.Token != ""))
}

// readiness is the answer of /readyz. The stores are reported and do not decide: a replica without its store still
// answers everybody as well as any other does.
type readiness struct {
	Status string            `json:"status"` // ready, starting, draining
	Stores map[string]string `json:"stores"` // of each gate
}

// ready says whether this replica is to be sent visitors.
func (a *Admin) ready(w http.ResponseWriter, _ *http.Request) {
	answer := readiness{Status: "ready", Stores: map[string]string{}}
	for name, gate := range a.settings.Gates {
		answer.Stores[name] = gate.Info().Store
		select {
		case <-gate.Ready():
		default:
			if time.Since(a.settings.Started) < patience {
				answer.Status = "starting"
			}
		}
	}
	if a.settings.Draining != nil && a.settings.Draining() {
		answer.Status = "draining"
	}
	code := http.StatusOK
	if answer.Status != "ready" {
		code = http.StatusServiceUnavailable
	}
	respondJSON(w, code, answer)
}
