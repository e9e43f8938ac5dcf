package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	maxFileSize   = 1 << 20 // bytes: what a Kubernetes ConfigMap holds
	maxTears      = 20      // syntax errors after which the rest of the file is not tried any more
	excerptAround = 2       // lines shown before and after the one with the problem
)

// source is the text of a file, by lines.
type source struct {
	name   string
	lines  []string
	shown  []shownLine // the same without secrets, made when the first excerpt is asked for
	hidden map[int]int // lines not to be shown from a column on, beside what looks like a secret
}

func newSource(name, text string) *source {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n") // a byte order mark is no text
	return &source{name: name, lines: strings.Split(text, "\n"), hidden: map[int]int{}}
}

// parse reads the text as YAML, noting what is not. A line that breaks the syntax is left out, with what is indented
// below it, and the rest is read again, so that one stray quote does not hide the other mistakes.
func (s *source) parse(n *notes) []*ast.DocumentNode {
	lines := strings.Split(strings.Join(s.lines, "\n"), "\n")
	for range maxTears {
		file, err := parseYAML(strings.Join(lines, "\n"))
		if err == nil {
			return file.Docs
		}
		n.torn = true
		at, message := syntaxProblem(err)
		if open := unclosed(lines, at.line); strings.Contains(message, "must be specified") && open > 0 {
			at = position{line: open, column: len(lines[open-1]) - len(strings.TrimLeft(lines[open-1], " ")) + 1}
		}
		n.problem(at, "", "not YAML: "+message, syntaxMend(s, at, message))
		if !tear(lines, at.line) {
			break
		}
	}
	return nil
}

// parseYAML parses, and turns a panic of the parser, which has had them on malformed text, into an error.
func parseYAML(text string) (file *ast.File, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the parser gave up: %v", cause)
		}
	}()
	return parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
}

// syntaxProblem is the place and the text of a parser's error.
func syntaxProblem(err error) (position, string) {
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		if tk := syntax.GetToken(); tk != nil && tk.Position != nil {
			return position{tk.Position.Line, tk.Position.Column}, syntax.GetMessage()
		}
		return position{1, 1}, syntax.GetMessage()
	}
	return position{1, 1}, err.Error()
}

// syntaxMend knows the usual causes of a syntax error.
func syntaxMend(s *source, at position, message string) string {
	line := ""
	if at.line >= 1 && at.line <= len(s.lines) {
		line = s.lines[at.line-1]
	}
	switch {
	case strings.Contains(line, "{") && strings.Contains(line, ": ${"):
		return `write quotes around it inside { }: "${NAME}"`
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "indent with spaces, not with tabs"
	case strings.Contains(message, "must be specified"):
		return "close what is opened in this line"
	case strings.Contains(message, "quoted text"):
		return "write the closing quote"
	case strings.Contains(message, "mapping value is not allowed"):
		return "check the indentation, or write quotes around a value that holds a colon"
	case strings.Contains(message, "value is not allowed"):
		return "indent the line like its neighbours"
	case strings.Contains(message, "reserved character"):
		return "write quotes around the value"
	}
	return ""
}

// unclosed is the number of the last line, up to the given one, that opens more brackets than it closes; 0 for none.
func unclosed(lines []string, line int) int {
	for i := min(line, len(lines)); i >= 1; i-- {
		opens := strings.Count(lines[i-1], "[") + strings.Count(lines[i-1], "{")
		if opens > strings.Count(lines[i-1], "]")+strings.Count(lines[i-1], "}") {
			return i
		}
	}
	return 0
}

// tear empties a line and those indented below it; of an empty one, the last line before it that is not. It says
// whether there was anything left to take out.
func tear(lines []string, line int) bool {
	i := min(line, len(lines)) - 1
	for i >= 0 && strings.TrimSpace(lines[i]) == "" {
		i--
	}
	if i < 0 {
		return false
	}
	depth := indent(lines[i])
	if lines[i][0] == '\t' {
		depth = len(lines[i]) // says nothing about what belongs to it
	}
	lines[i] = ""
	for i++; i < len(lines) && (strings.TrimSpace(lines[i]) == "" || indent(lines[i]) > depth); i++ {
		lines[i] = ""
	}
	return true
}

// indent is the number of blanks a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// excerpt shows a place of the file in the form of goccy/go-yaml's own excerpts. That printer works on tokens: it
// shows secrets, loses the lines after a syntax error, and puts the mark below the wrong line of a longer value.
func (s *source) excerpt(at position) string {
	if at.line < 1 || at.line > len(s.lines) {
		return ""
	}
	if s.shown == nil {
		s.shown = hideSecrets(s.lines)
		for number, from := range s.hidden {
			number = min(number, len(s.lines)) // the parser may count further than the text goes
			s.shown[number-1] = s.shown[number-1].until(from)
		}
	}
	var b strings.Builder
	for i := max(at.line-excerptAround, 1); i <= min(at.line+excerptAround, len(s.lines)); i++ {
		line, mark := s.shown[i-1], ' '
		if i == at.line {
			mark = '>'
		}
		if i == len(s.lines) && line.text == "" && i != at.line {
			break // what Split leaves after the last line end
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%c %3d | %s", mark, i, line.text), " ") + "\n")
		if i == at.line {
			column := min(line.column(at.column), utf8.RuneCountInString(line.text)+1)
			b.WriteString(strings.Repeat(" ", len("> 123 | ")+column-1) + "^\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
