package proxy

import (
	"fmt"
	"regexp"
	"strings"
)

// Pattern matches canonical paths: ** crosses slashes, * does not, everything else stands for itself, case included.
// A pattern that ends in /** also matches the path before it, so that /sale/** is /sale and everything below; and a
// slash at the end of a path makes no difference, since most upstreams make none either.
type Pattern struct {
	text    string
	exact   string         // set if there is no star
	below   string         // set if the only stars are a /** at the end: what is before it
	general *regexp.Regexp // set otherwise
}

// NewPattern reads a pattern, which must begin with a slash or with **.
func NewPattern(text string) (Pattern, error) {
	if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "**") {
		return Pattern{}, fmt.Errorf("read path pattern %q: it must begin with a slash", text)
	}
	p := Pattern{text: text}
	before, isBelow := strings.CutSuffix(text, "/**")
	switch {
	case !strings.Contains(text, "*"):
		p.exact = closed(text)
	case isBelow && !strings.Contains(before, "*"):
		p.below = before
	default:
		p.general = regexp.MustCompile(`(?s)\A` + expression(text) + `\z`)
	}
	return p, nil
}

// Matches reports whether a decoded canonical path is one of the pattern's.
func (p Pattern) Matches(path string) bool {
	switch {
	case p.general != nil:
		return p.general.MatchString(path) || p.general.MatchString(closed(path))
	case p.exact != "":
		return closed(path) == p.exact
	default:
		rest, ok := strings.CutPrefix(path, p.below)
		return ok && (rest == "" || rest[0] == '/')
	}
}

// String is the pattern as it was written.
func (p Pattern) String() string { return p.text }

// closed is path without the slash at its end, but for the root.
func closed(path string) string {
	if path == "/" {
		return path
	}
	return strings.TrimSuffix(path, "/")
}

// expression is a pattern with stars as a regular expression.
func expression(text string) string {
	var b strings.Builder
	for text != "" {
		switch {
		case text == "/**":
			b.WriteString(`(?:/.*)?`)
			return b.String()
		case strings.HasPrefix(text, "/**/"):
			b.WriteString(`/(?:.*/)?`)
			text = text[len("/**/"):]
		case strings.HasPrefix(text, "**"):
			b.WriteString(`.*`)
			text = text[len("**"):]
		case text[0] == '*':
			b.WriteString(`[^/]*`)
			text = text[1:]
		default:
			end := 1
			for end < len(text) && text[end] != '*' && text[end] != '/' {
				end++
			}
			b.WriteString(regexp.QuoteMeta(text[:end]))
			text = text[end:]
		}
	}
	return b.String()
}

// newPatterns reads several patterns.
func newPatterns(texts []string) ([]Pattern, error) {
	patterns := make([]Pattern, 0, len(texts))
	for _, text := range texts {
		p, err := NewPattern(text)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// anyMatches reports whether one of the patterns matches.
func anyMatches(patterns []Pattern, path string) bool {
	for _, p := range patterns {
		if p.Matches(path) {
			return true
		}
	}
	return false
}

// hostMatches reports whether name is the host that pattern names, or, for *.example.com, one below it.
func hostMatches(pattern, name string) bool {
	if parent, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(name) > len(parent) && strings.HasSuffix(name, parent)
	}
	return pattern == name
}
