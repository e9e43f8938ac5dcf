package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// statFunc looks for a file, as os.Stat does.
type statFunc func(name string) (os.FileInfo, error)

// validator checks what concerns more than the form of one value. It says nothing of keys that have a problem
// already.
type validator struct {
	*notes
	cfg  *Config
	stat statFunc // nil: files are not looked for
}

func (v *validator) validate() {
	v.server("server", v.cfg.Server)
	v.store("store", v.cfg.Store)
	v.tokens("tokens", &v.cfg.Tokens)
	v.gates("gates", v.cfg.Gates)
	v.upstreams("upstreams", v.cfg.Upstreams)
	v.origin("origin", v.cfg.Origin)
	if len(v.problems) == 0 { // who has mistakes to mend needs no advice yet
		v.lint()
	}
}

// fail notes a problem with a key, unless it has one.
func (v *validator) fail(key, message, mend string) {
	if v.sound(key) {
		v.problem(v.find(key), key, message, mend)
	}
}

// file notes a named file that is not there.
func (v *validator) file(key, name string) {
	if v.stat == nil || name == "" {
		return
	}
	info, err := v.stat(name)
	switch {
	case err != nil:
		v.fail(key, fmt.Sprintf("the file %q cannot be read", name), "paths are relative to where foyer is started")
	case info.IsDir():
		v.fail(key, fmt.Sprintf("%q is a folder, not a file", name), "")
	}
}

func (v *validator) server(key string, s Server) {
	v.address(key+".listen", s.Listen)
	v.address(key+".admin", s.Admin)
	listen, admin := portOf(s.Listen), portOf(s.Admin)
	if v.sound(key+".listen", key+".admin") && listen == admin && listen != "0" {
		v.fail(key+".admin", "is on the port of server.listen", "write another port: visitors must not reach the admin listener")
	}
	if v.sound(key+".admin", key+".admin_token") && s.AdminToken == "" && !loopback(s.Admin) {
		v.fail(key+".admin", "listens beyond loopback without a token",
			"set server.admin_token (openssl rand -hex 32), or write 127.0.0.1:9090")
	}
	if (s.TLS.Cert == "") != (s.TLS.Key == "") && v.sound(key+".tls.cert", key+".tls.key") {
		v.fail(key+".tls", "names only one of certificate and key", "write both cert and key, or neither")
	}
	v.file(key+".tls.cert", s.TLS.Cert)
	v.file(key+".tls.key", s.TLS.Key)
	for i, prefix := range s.TrustedProxies {
		if prefix.Bits() == 0 && prefix.IsValid() {
			v.fail(fmt.Sprintf("%s.trusted_proxies[%d]", key, i), prefix.String()+" trusts everyone to name an address",
				"write the networks of your proxies, such as 10.0.0.0/8")
		}
	}
}

// address checks what a listener is given.
func (v *validator) address(key, address string) {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		if n, numberErr := strconv.ParseUint(port, 10, 16); numberErr == nil && strconv.FormatUint(n, 10) == port {
			return
		}
	}
	v.fail(key, "must be host:port, the host may be left out", `write one such as ":8080" or "127.0.0.1:8080"`)
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address) // callers have checked it
	return port
}

// loopback says whether an address can be reached from this machine alone.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

func (v *validator) store(key string, s Store) {
	v.dsn(key+".redis", s.Redis, "redis", "rediss")
	v.dsn(key+".postgres", s.Postgres, "postgres", "postgresql")
	if s.Postgres == "" && s.SQLite == "" {
		v.fail(key+".sqlite", "is empty, and there is no store.postgres", `write a file, or ":memory:"`)
	}
	if s.SQLite != "" && s.SQLite == s.StateFile {
		v.fail(key+".state_file", "is the file of store.sqlite", "write another name")
	}
}

// dsn checks the address of a store without ever showing it: it may hold a password.
func (v *validator) dsn(key string, dsn DSN, schemes ...string) {
	if dsn == "" {
		return
	}
	u, err := url.Parse(string(dsn))
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Opaque != "" || u.Host == "" && u.Query().Get("host") == "" {
		v.fail(key, fmt.Sprintf("must be a URL that begins with %s:// and names a host", strings.Join(schemes, ":// or ")),
			fmt.Sprintf("write one such as %s://127.0.0.1/0", schemes[0]))
	}
}

const (
	leastSecret = 32 // bytes of an HS256 key: as long as its hash
	secretMend  = "make one with openssl rand -hex 32"
)

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// IsKeyID reports whether a key of tokens.keys may have this id.
func IsKeyID(id string) bool { return keyID.MatchString(id) }

func (v *validator) tokens(key string, t *Tokens) {
	first := map[string]string{}
	for i, k := range t.Keys {
		at := fmt.Sprintf("%s.keys[%d]", key, i)
		v.key(at, k)
		if other, twice := first[k.ID]; twice && k.ID != "" {
			v.fail(at+".id", fmt.Sprintf("is the id of %s too (line %d)", other, v.find(other+".id").line), "give each key an id of its own")
		} else {
			first[k.ID] = at
		}
	}
	if len(t.Keys) == 0 && v.sound(key+".keys", "store.redis") && v.cfg.Store.Redis != "" && !v.torn {
		v.fail(key+".keys", "is empty, and with store.redis every replica must have the same key",
			`write keys: [{id: "1", secret: "${FOYER_KEY}"}] with a key from openssl rand -hex 32`)
	}
	v.leeway(key+".leeway", t)
}

// leeway holds the leeway to a quarter of every claim: the default by shortening it, a written one by a problem.
func (v *validator) leeway(key string, t *Tokens) {
	for i, gate := range v.cfg.Gates {
		claim := fmt.Sprintf("gates[%d].session.claim", i)
		if !v.sound(claim, key) || t.Leeway <= gate.Session.Claim/4 {
			continue
		}
		if v.written(key) {
			v.fail(key, fmt.Sprintf("is more than a quarter of the claim of gate %q (%s)", gate.Name, writtenDuration(gate.Session.Claim)),
				fmt.Sprintf("write %s, or remove it", writtenDuration((gate.Session.Claim/4).Truncate(time.Millisecond))))
			return
		}
		t.Leeway = gate.Session.Claim / 4
	}
}

func (v *validator) key(at string, k Key) {
	if !keyID.MatchString(k.ID) && v.sound(at+".id") {
		v.fail(at+".id", "must be 1 to 64 of A-Z a-z 0-9 . _ -", `write one such as "2026-11"`)
	}
	secret, file := v.written(at+".secret"), v.written(at+".ed25519_file")
	switch {
	case !v.sound(at+".secret", at+".ed25519_file"):
	case secret && file:
		v.fail(at, "has both a secret and an ed25519_file", "keep one of them: a key is either HS256 or EdDSA")
	case !secret && !file:
		v.fail(at, "has neither a secret nor an ed25519_file", "write a secret; "+secretMend)
	case file && k.Ed25519File == "":
		v.fail(at+".ed25519_file", "is empty", "write the name of a PEM file")
	case secret && k.Secret == "":
		v.fail(at+".secret", "is empty", secretMend)
	case secret && len(k.Secret) < leastSecret:
		v.fail(at+".secret", fmt.Sprintf("is %d bytes long, and a key needs at least %d", len(k.Secret), leastSecret), secretMend)
	}
	v.file(at+".ed25519_file", k.Ed25519File)
}
