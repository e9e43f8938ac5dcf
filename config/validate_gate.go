package config

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	gateName    = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
	hostName    = regexp.MustCompile(`^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)
	headerName  = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`)
	languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// methods are those that the edge lets through at all.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// builtInLanguages are those of the built-in waiting page.
var builtInLanguages = []string{"en", "de", "fr", "es"}

func (v *validator) gates(key string, gates []Gate) {
	if len(gates) == 0 && v.sound(key) {
		v.missing(v.find(key), key, "there is no gate", leastConfig)
	}
	first := map[string]int{}
	for i := range gates {
		at := fmt.Sprintf("%s[%d]", key, i)
		v.gate(at, &gates[i])
		name := gates[i].Name
		if other, twice := first[name]; twice && v.sound(at+".name") {
			line := v.find(fmt.Sprintf("%s[%d].name", key, other)).line
			v.fail(at+".name", fmt.Sprintf("%q is the name of the gate in line %d too", name, line), "give each gate a name of its own")
		} else if !twice {
			first[name] = i
		}
	}
	v.overlaps(key, gates)
}

func (v *validator) gate(at string, g *Gate) {
	if !gateName.MatchString(g.Name) {
		v.fail(at+".name", "must be 1 to 40 of a-z 0-9 -", "write one such as final-2026")
	}
	v.match(at+".match", &g.Match)
	v.gateUpstream(at+".upstream", g)
	if v.sound(at+".opens_at", at+".closes_at") && !g.OpensAt.IsZero() && !g.ClosesAt.IsZero() && !g.OpensAt.Before(g.ClosesAt) {
		v.fail(at+".closes_at", "is not after opens_at", "write a later time")
	}
	if v.sound(at+".session.idle", at+".session.max") && g.Session.Max < g.Session.Idle {
		v.warning(at+".session.max", "is shorter than idle, so that idle never ends a session", "")
	}
	if v.sound(at+".queue.poll.min", at+".queue.poll.max") && g.Queue.Poll.Min > g.Queue.Poll.Max {
		v.fail(at+".queue.poll", "min is longer than max", "write min: 2s and max: 30s, or others in this order")
	}
	if v.sound(at+".queue.keep", at+".queue.poll") && g.Queue.Keep < g.Queue.Poll.Max {
		v.fail(at+".queue.keep", fmt.Sprintf("is shorter than the longest time between two polls (%s)", writtenDuration(g.Queue.Poll.Max)),
			"write a longer one, or a shorter queue.poll.max")
	}
	for i, rule := range g.Bypass {
		v.bypass(fmt.Sprintf("%s.bypass[%d]", at, i), rule)
	}
	v.page(at+".page", &g.Page, g.Name)
	if g.Cookie.SameSite == "none" && g.Cookie.Secure == "false" && v.sound(at+".cookie.secure", at+".cookie.samesite") {
		v.fail(at+".cookie.samesite", "none is only taken by browsers with secure cookies", "write secure: true, or samesite: lax")
	}
}

// gateUpstream checks where a gate leads, and takes the slash off the end of its URL.
func (v *validator) gateUpstream(key string, g *Gate) {
	if g.Upstream == UpstreamOrigin {
		if v.cfg.Origin == nil && v.sound("origin") && !v.torn {
			v.fail(key, "is the embedded shop, and there is no origin section",
				"write origin: {events: […]}, or the http://host:port of your storefront")
		}
		return
	}
	if base, ok := baseURL(g.Upstream); ok {
		g.Upstream = base
		return
	}
	v.fail(key, "must be origin or http(s)://host:port, without a path", "write one such as http://127.0.0.1:3000")
}

// baseURL is a URL of scheme and host alone, without the slash at its end.
func baseURL(text string) (string, bool) {
	u, err := url.Parse(text)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		(u.Path == "" || u.Path == "/") && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(text, "#")
	return strings.TrimSuffix(text, "/"), ok
}

// match checks the hosts and paths of a gate, and writes hosts in lower case.
func (v *validator) match(at string, m *Match) {
	for i, host := range m.Hosts {
		m.Hosts[i] = strings.ToLower(host)
		if !hostName.MatchString(m.Hosts[i]) || len(host) > 253 {
			v.fail(fmt.Sprintf("%s.hosts[%d]", at, i), "must be a host without port, exact or *.example.com", "write one such as tickets.example.com")
		}
	}
	for i, pattern := range m.Paths {
		key := fmt.Sprintf("%s.paths[%d]", at, i)
		v.pathPattern(key, pattern)
		if pattern == "/_foyer" || strings.HasPrefix(pattern, "/_foyer/") {
			v.warning(key, "never reaches a gate: /_foyer/ is foyer's own", "")
		}
	}
}

// pathPattern checks a pattern against the form of the paths it is matched with, decoded and canonical: what is not in
// that form would never match.
func (v *validator) pathPattern(key, pattern string) {
	stars := strings.ReplaceAll(pattern, "*", "x")
	switch {
	case !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "**"):
		v.fail(key, "must begin with / or **", "write /"+pattern)
	case strings.Contains(pattern, "***"):
		v.fail(key, "has three stars in a row", "* matches within a part of the path, ** across slashes")
	case strings.Contains(pattern, "%"):
		v.fail(key, "holds an escape, and is matched with paths whose escapes are decoded", "write the character itself, or *")
	case strings.ContainsAny(pattern, "?#\\;") || strings.ContainsFunc(pattern, unicode.IsControl):
		v.fail(key, `holds a character that no path here has: ? # \ or ;`, "write the path alone, without a query")
	case strings.Contains(stars, "//") || path.Clean("/"+stars) != "/"+strings.Trim(stars, "/"):
		v.fail(key, "is not in its shortest form", "leave out //, /./ and /../")
	}
}

func (v *validator) bypass(at string, b Bypass) {
	if len(b.Paths)+len(b.Methods)+len(b.CIDRs) == 0 && b.Header == nil && v.sound(at) {
		v.fail(at, "has no criterion, so it would let everything through", "write paths, methods, cidrs or header, or mode: off for the gate")
	}
	for i, pattern := range b.Paths {
		v.pathPattern(fmt.Sprintf("%s.paths[%d]", at, i), pattern)
	}
	for i, method := range b.Methods {
		key := fmt.Sprintf("%s.methods[%d]", at, i)
		if slices.Contains(methods, method) {
			continue
		}
		mend := "write some of " + strings.Join(methods, ", ")
		if slices.Contains(methods, strings.ToUpper(method)) {
			mend = "write " + strings.ToUpper(method)
		}
		v.fail(key, "is not a method that foyer lets through", mend)
	}
	if h := b.Header; h != nil {
		if !headerName.MatchString(h.Name) {
			v.fail(at+".header.name", "must be letters, digits and -", "write one such as X-Staff-Key")
		}
		if h.Value == "" {
			v.fail(at+".header.value", "is empty, so that everyone would pass", secretMend)
		}
	}
}

func (v *validator) page(at string, p *Page, name string) {
	if p.Title == "" {
		p.Title = name
	}
	v.file(at+".template", p.Template)
	if len(p.Languages) == 0 {
		v.fail(at+".languages", "is empty", "write at least one, such as [en]")
	}
	for i, language := range p.Languages {
		key := fmt.Sprintf("%s.languages[%d]", at, i)
		switch {
		case !languageTag.MatchString(language):
			v.fail(key, "is not a language tag", "write one such as en or pt-BR")
		case p.Template == "" && !slices.Contains(builtInLanguages, language):
			v.fail(key, "is not a language of the built-in page", "write some of "+strings.Join(builtInLanguages, ", ")+", or a template")
		}
	}
}
