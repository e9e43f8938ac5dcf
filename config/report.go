package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong, or odd, in a configuration file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 where the file could not be read at all
	Column  int    `json:"column"` // from 1, in characters
	Key     string `json:"key"`    // such as gates[0].session.idle; empty for a problem of the whole file
	Message string `json:"message"`
	Mend    string `json:"mend"`    // what to write instead; empty where there is nothing to say
	Excerpt string `json:"excerpt"` // the lines around it, secrets hidden
}

// String is the problem as `foyer check` prints it: one line, then the excerpt.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	if p.Mend != "" {
		b.WriteString("; " + p.Mend)
	}
	if p.Excerpt != "" {
		b.WriteString("\n" + p.Excerpt)
	}
	return b.String()
}

// Report is all that was found in a configuration file, in the order of its lines.
type Report struct {
	Problems []Problem `json:"problems"` // while there is one, there is no Config
	Warnings []Problem `json:"warnings"`
}

// OK says whether the file can be used.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Err is nil when the report is OK, and otherwise an error that holds every problem.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	return errors.New(r.String())
}

// String is every problem, and a last line that counts them. Warnings are not in it.
func (r Report) String() string {
	var b strings.Builder
	for _, problem := range r.Problems {
		b.WriteString(problem.String() + "\n\n")
	}
	switch len(r.Problems) {
	case 0:
		return "no problem"
	case 1:
		b.WriteString("1 problem")
	default:
		fmt.Fprintf(&b, "%d problems", len(r.Problems))
	}
	return b.String()
}

// position is a place in the file; the zero value is none.
type position struct{ line, column int }

// notes gathers problems while a file is read, and remembers where each key stands.
type notes struct {
	source   *source
	problems []Problem
	warnings []Problem
	at       map[string]position // by key path: where its value is
	broken   map[string]bool     // key paths that have a problem already, so that nothing else is said of them
	foreign  []string            // what variables held; never shown
	torn     bool                // lines had to be left out, so that what is missing may have been there
}

func newNotes(src *source) *notes {
	return &notes{source: src, at: map[string]position{}, broken: map[string]bool{}}
}

// problem notes what is wrong at a position, and marks the key as broken.
func (n *notes) problem(at position, key, message, mend string) {
	n.broken[key] = true
	n.problems = append(n.problems, n.note(at, key, message, mend))
}

// missing notes a key that should be there. It says nothing of a file that could not be read whole.
func (n *notes) missing(at position, key, message, mend string) {
	n.broken[key] = true
	if !n.torn {
		n.problems = append(n.problems, n.note(at, key, message, mend))
	}
}

// warning notes what is odd at a key.
func (n *notes) warning(key, message, mend string) {
	if !n.torn {
		n.warnings = append(n.warnings, n.note(n.find(key), key, message, mend))
	}
}

func (n *notes) note(at position, key, message, mend string) Problem {
	at = position{line: min(max(at.line, 1), len(n.source.lines)), column: max(at.column, 1)} // the parser may be off
	return Problem{File: n.source.name, Line: at.line, Column: at.column, Key: key, Message: message, Mend: mend}
}

// find is where a key, or else the nearest one around it, stands.
func (n *notes) find(key string) position {
	for ; key != ""; key = parent(key) {
		if at, ok := n.at[key]; ok {
			return at
		}
	}
	return position{line: 1, column: 1}
}

// written says whether the file sets a key.
func (n *notes) written(key string) bool {
	_, ok := n.at[key]
	return ok
}

// sound says whether the keys, and those around them, have no problem yet, so that their values mean something.
func (n *notes) sound(keys ...string) bool {
	for _, key := range keys {
		for ; key != ""; key = parent(key) {
			if n.broken[key] {
				return false
			}
		}
	}
	return true
}

// report is all that was noted, sorted, with excerpts.
func (n *notes) report() Report {
	for _, found := range [][]Problem{n.problems, n.warnings} {
		slices.SortStableFunc(found, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		for i := range found {
			found[i].Message, found[i].Mend = n.withoutForeign(found[i].Message), n.withoutForeign(found[i].Mend)
			found[i].Excerpt = n.source.excerpt(position{found[i].Line, found[i].Column})
		}
	}
	return Report{Problems: n.problems, Warnings: n.warnings}
}

// withoutForeign hides what variables held. Short values stay: they are no secrets, and hiding every "1" helps nobody.
func (n *notes) withoutForeign(text string) string {
	for _, value := range n.foreign {
		if len(value) >= 8 {
			text = strings.ReplaceAll(text, value, redacted)
		}
	}
	return text
}

// parent is the key path around a key path: a[0].b → a[0] → a → "".
func parent(key string) string {
	if strings.HasSuffix(key, "]") {
		return key[:strings.LastIndex(key, "[")]
	}
	return key[:max(strings.LastIndex(key, "."), 0)]
}
