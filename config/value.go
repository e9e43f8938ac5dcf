package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// The units of a Size.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

// redacted stands wherever a secret would.
const redacted = "…"

// Secret is a value that is never shown: every way of printing or encoding it gives "…". Convert it to a string to
// use it.
type Secret string

// String is "…", or empty where there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// DSN is the address of a store, which may hold a password: every way of printing or encoding it hides that. Convert
// it to a string to use it.
type DSN string

// String is the address with "…" for its password.
func (d DSN) String() string {
	if d == "" {
		return ""
	}
	u, err := url.Parse(string(d))
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return redacted
	}
	hidden := ""
	if u.User != nil {
		hidden = u.User.Username()
		if _, has := u.User.Password(); has {
			hidden += ":" + redacted
		}
		hidden += "@"
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			return redacted
		}
	}
	rest := u.EscapedPath()
	if u.RawQuery != "" {
		rest += "?" + u.RawQuery
	}
	return fmt.Sprintf("%s://%s%s%s", u.Scheme, hidden, u.Host, rest)
}

// GoString hides the password from %#v.
func (d DSN) GoString() string { return strconv.Quote(d.String()) }

// MarshalText hides the password from encoders.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Size is a number of bytes.
type Size int64

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if s != 0 && s%unit.size == 0 {
			return fmt.Sprintf("%d%s", int64(s/unit.size), unit.name)
		}
	}
	return "0B"
}

// sizeUnits are the units a Size is written in, the largest first; B is the suffix of all others.
var sizeUnits = []struct {
	name string
	size Size
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}}
