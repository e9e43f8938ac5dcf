package proxy

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errAmbiguous: two programs may read the path or the host in two ways, so nobody gets to read it.
var errAmbiguous = errors.New("ambiguous path or host")

// Path is a request's path in the one form that gates match and upstreams get.
type Path struct {
	Decoded string // what patterns are matched on
	Escaped string // what is sent; it decodes to Decoded and to nothing else
}

// canonicalPath decodes escapes of unreserved characters, merges slashes and removes dot segments. It refuses what
// upstreams are known to read in different ways: an encoded slash, backslash, percent sign, question mark or hash, a
// control character, any semicolon, and what is not UTF-8. The argument is a valid escaped path.
func canonicalPath(escaped string) (Path, error) {
	if !strings.HasPrefix(escaped, "/") {
		return Path{}, errAmbiguous
	}
	if plainPath(escaped) {
		return Path{Decoded: escaped, Escaped: escaped}, nil
	}
	normal, err := normalEscapes(escaped)
	if err != nil {
		return Path{}, err
	}
	normal = removeDots(normal)
	decoded, err := url.PathUnescape(normal)
	if err != nil || !utf8.ValidString(decoded) || strings.ContainsFunc(decoded, unicode.IsControl) {
		return Path{}, errAmbiguous
	}
	return Path{Decoded: decoded, Escaped: normal}, nil
}

// plainPath reports whether a path is canonical as it stands, as nearly all are.
func plainPath(path string) bool {
	for i := range len(path) {
		c := path[i]
		if c == '/' && i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.') || c != '/' && !unreserved(c) {
			return false
		}
	}
	return true
}

// normalEscapes writes every character the one way: unreserved ones as they are, delimiters as they came, all others
// as an upper-case escape.
func normalEscapes(escaped string) (string, error) {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(escaped))
	for i := 0; i < len(escaped); i++ {
		c, encoded := escaped[i], false
		if c == '%' {
			if i+2 >= len(escaped) || !isHex(escaped[i+1]) || !isHex(escaped[i+2]) {
				return "", errAmbiguous
			}
			c, encoded = unhex(escaped[i+1])<<4|unhex(escaped[i+2]), true
			i += 2
		}
		switch {
		case c < 0x20 || c == 0x7f || strings.IndexByte(`\%?#;`, c) >= 0 || encoded && c == '/':
			return "", errAmbiguous
		case unreserved(c) || !encoded && strings.IndexByte("/!$&'()*+,=:@[]", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String(), nil
}

// removeDots merges slashes and resolves "." and "..", never above the root. A slash at the end stays.
func removeDots(path string) string {
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for _, segment := range segments {
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
		}
	}
	clean := "/" + strings.Join(kept, "/")
	open := strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") || strings.HasSuffix(path, "/..")
	if open && clean != "/" {
		clean += "/"
	}
	return clean
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// Host is a request's host in the one form that gates match and upstreams get.
type Host struct {
	Name string // lower case, no dot at the end; an IPv6 address in brackets; "" where an HTTP/1.0 client sent none
	Port string // "" for the scheme's own
}

// String is the host as a Host header has it.
func (h Host) String() string {
	if h.Port == "" {
		return h.Name
	}
	return h.Name + ":" + h.Port
}

// canonicalHost reads a Host header or an authority.
func canonicalHost(hostport string, secure bool) (Host, error) {
	if hostport == "" {
		return Host{}, nil
	}
	name, port := hostport, ""
	if i := strings.LastIndexByte(hostport, ':'); i >= 0 && !strings.HasSuffix(hostport, "]") {
		name, port = hostport[:i], hostport[i+1:]
		if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return Host{}, errAmbiguous
		}
	}
	if port == "80" && !secure || port == "443" && secure {
		port = ""
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return Host{}, errAmbiguous
		}
		return Host{Name: "[" + addr.String() + "]", Port: port}, nil
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if !validName(name) {
		return Host{}, errAmbiguous
	}
	return Host{Name: name, Port: port}, nil
}

// validName reports whether name is a host name of labels that are not empty; underscores are let through, since
// container networks have them.
func validName(name string) bool {
	if name == "" || len(name) > 253 || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c == '~' || !unreserved(c) {
			return false
		}
	}
	return true
}
