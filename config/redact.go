package config

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// shownLine is a line of the file as it may be shown: from a certain column on, something may have been cut out.
type shownLine struct {
	text string
	cuts []cut
}

// cut is a stretch of a line, in characters from 1, that is shown as "…".
type cut struct{ from, to int }

// column is where a column of the original line is in the shown one.
func (l shownLine) column(original int) int {
	shift := 0
	for _, c := range l.cuts {
		if original >= c.to {
			shift += c.to - c.from - utf8.RuneCountInString(redacted)
		} else if original > c.from {
			shift += original - c.from
		}
	}
	return original - shift
}

// until is the line up to a column of the original, and "…" for the rest.
func (l shownLine) until(original int) shownLine {
	text := []rune(l.text)
	return shownLine{text: string(text[:min(max(l.column(original)-1, 0), len(text))]) + redacted}
}

var (
	keyPattern      = regexp.MustCompile(`([A-Za-z0-9_-]+)["']?[ \t]*:([ \t]+|$)`)
	variablePattern = regexp.MustCompile(`^["']?\$\{[A-Za-z_][A-Za-z0-9_]*\}["']?$`)
)

// hideSecrets makes lines that may be shown. It works on the text, not on parsed YAML, since excerpts are needed
// above all of files that do not parse, and it hides too much rather than too little.
func hideSecrets(lines []string) []shownLine {
	shown := make([]shownLine, len(lines))
	var open *openValue
	for i, line := range lines {
		from := 0
		if open != nil {
			from, open = open.goOn(line)
		}
		var cuts [][2]int
		if from > 0 {
			cuts = append(cuts, [2]int{indent(line), from})
		}
		for open == nil || from < len(line) {
			start, end, next := nextSecret(line, from)
			if start < 0 {
				break
			}
			if start < end {
				cuts = append(cuts, [2]int{start, end})
			}
			open, from = next, max(end, start)
		}
		shown[i] = cutOut(line, cuts)
	}
	return shown
}

// openValue is a secret value that may go on in the next line.
type openValue struct {
	depth int  // of its key
	whole bool // it looks complete, so that only what is indented further can belong to it
}

// knownKey is a line that begins with a key.
var knownKey = regexp.MustCompile(`^[ \t]*(?:- +)*\{? *["']?([A-Za-z0-9_-]+)["']?[ \t]*:(?:[ \t]|$)`)

// goOn is how much of the next line still belongs to the value, in bytes, and what is then open. The indentation of an
// incomplete value is not trusted, since it may be the very mistake: it ends where a line begins with a known key.
func (o *openValue) goOn(line string) (int, *openValue) {
	if strings.TrimSpace(line) == "" {
		return 0, o
	}
	if m := knownKey.FindStringSubmatch(line); m != nil {
		if _, known := secretKeys()[strings.ToLower(m[1])]; known {
			return 0, nil
		}
	}
	if o.whole && indent(line) <= o.depth {
		return 0, nil
	}
	return len(line), o
}

// nextSecret finds the value of the next secret key at or after a byte of a line: where it starts and ends, and what
// is open at the end of the line. start is negative where there is none.
func nextSecret(line string, from int) (start, end int, open *openValue) {
	for from <= len(line) {
		m := keyPattern.FindStringSubmatchIndex(line[from:])
		if m == nil {
			return -1, -1, nil
		}
		name, at := line[from+m[2]:from+m[3]], from+m[1]
		if !isSecretKey(name, line[at:]) {
			from = at
			if m[0] == m[1] || at >= len(line) {
				return -1, -1, nil
			}
			continue
		}
		flow := strings.ContainsAny(line[:from+m[2]], "{[")
		length, whole := valueEnd(line[at:], flow)
		open = &openValue{depth: from + m[2], whole: whole}
		if flow && whole {
			open = nil
		}
		if variablePattern.MatchString(line[at : at+length]) {
			return at, at, open
		}
		return at, at + length, open
	}
	return -1, -1, nil
}

// valueEnd is the length of the value that a text begins with, and whether it looks complete.
func valueEnd(text string, flow bool) (length int, whole bool) {
	if text == "" {
		return 0, false
	}
	switch first := text[0]; first {
	case '"', '\'':
		end := strings.LastIndexByte(text, first)
		if flow {
			end = 1 + strings.IndexByte(text[1:], first)
		}
		if end > 0 {
			return end + 1, true
		}
		return len(text), false
	case '[', '{':
		return len(text), strings.ContainsAny(text, "]}")
	case '|', '>', '&', '!', '-', '*':
		return len(text), false
	}
	if end := strings.IndexAny(text, ",}]"); flow && end >= 0 && !strings.HasPrefix(text, "${") {
		return end, true
	}
	return len(strings.TrimRight(text, " ")), true
}

// isSecretKey says whether the value of a key must not be shown: a secret, what looks like the misspelt name of one,
// or a store's address with a password in it.
func isSecretKey(name, value string) bool {
	name = strings.ToLower(name)
	known, ok := secretKeys()[name]
	switch {
	case ok && known == "dsn":
		return strings.Contains(value, "@") || strings.Contains(strings.ToLower(value), "password")
	case ok:
		return known == "secret"
	}
	if strings.Contains(name, "secret") || strings.Contains(name, "token") || strings.Contains(name, "passw") {
		return true
	}
	for other, kind := range secretKeys() {
		if kind == "secret" && distance(name, other) <= 2 {
			return true
		}
	}
	return false
}

// secretKeys says of every key name what it holds: "secret", "dsn" or "".
var secretKeys = sync.OnceValue(func() map[string]string {
	kinds := map[string]string{}
	for _, setting := range Settings() {
		sections := strings.Split(strings.ReplaceAll(setting.Path, "[]", ""), ".")
		for _, section := range sections {
			if kinds[section] == "" {
				kinds[section] = "" // a known word, no misspelt secret
			}
		}
		name := sections[len(sections)-1]
		switch setting.Kind {
		case KindSecret, KindSecrets:
			kinds[name] = "secret"
		case KindDSN:
			kinds[name] = "dsn"
		}
	}
	return kinds
})

// cutOut replaces stretches of a line, in bytes, by "…".
func cutOut(line string, stretches [][2]int) shownLine {
	shown, end := shownLine{}, 0
	for _, s := range stretches {
		if s[0] < end || s[0] >= s[1] {
			continue
		}
		shown.text += line[end:s[0]] + redacted
		shown.cuts = append(shown.cuts, cut{
			from: utf8.RuneCountInString(line[:s[0]]) + 1,
			to:   utf8.RuneCountInString(line[:s[1]]) + 1,
		})
		end = s[1]
	}
	shown.text += line[end:]
	return shown
}
