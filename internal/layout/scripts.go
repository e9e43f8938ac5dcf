package layout

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	argument = regexp.MustCompile(`\b(?:KEYS|ARGV)\[\d+\]`)
	returns  = regexp.MustCompile(`(?i)\breturns?\b`)
)

// checkScripts wants each Lua script to begin with a comment that says what it is for, what every key and argument is
// that it uses by number, and what it returns.
func checkScripts(tree fs.FS) ([]Offence, error) {
	var offences []Offence
	err := eachFile(tree, func(name string, text []byte) error {
		if path.Ext(name) != ".lua" {
			return nil
		}
		header, body := splitHeader(string(text))
		offend := func(format string, args ...any) {
			offences = append(offences, Offence{Path: name, Line: 1, Text: fmt.Sprintf(format, args...) +
				": a script's caller is in another language and sees nothing but its header"})
		}
		if header == "" {
			offend("has no header")
			return nil
		}
		if !returns.MatchString(header) {
			offend("the header does not say what it returns")
		}
		told := map[string]bool{}
		for _, used := range argument.FindAllString(body, -1) {
			if !told[used] && !strings.Contains(header, used) {
				told[used] = true
				offend("the header does not say what %s is", used)
			}
		}
		return nil
	})
	return offences, err
}

// splitHeader parts a script into its leading comment and the code after it.
func splitHeader(script string) (header, body string) {
	rest := script
	for {
		line, after, more := strings.Cut(rest, "\n")
		if !strings.HasPrefix(line, "--") {
			return script[:len(script)-len(rest)], rest
		}
		if rest = after; !more {
			return script, ""
		}
	}
}
