package config

import (
	"fmt"
	"regexp"
	"strings"
)

// variableName is what may stand in ${…} before a default.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expansion is a text with its variables replaced.
type expansion struct {
	text   string
	names  []string // the variables that were used, set or not
	values []string // what those that are set hold
}

// expandProblem is why a text cannot be expanded.
type expandProblem struct {
	message, mend string
	unset         bool // a variable is not set
}

// expand replaces ${NAME} and ${NAME:-default} in a text; $${ is a literal ${, and any other $ stands for itself.
// An unset variable without a default is a problem.
func expand(text string, env func(string) (string, bool)) (expansion, *expandProblem) {
	var out strings.Builder
	result := expansion{}
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			result.text = out.String()
			return result, nil
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		body, rest, closed := strings.Cut(text[at+2:], "}")
		name, fallback, hasFallback := strings.Cut(body, ":-")
		switch {
		case !closed:
			return result, &expandProblem{message: "${ is never closed", mend: "write ${NAME}, or $${ for a literal ${"}
		case !variableName.MatchString(name):
			return result, &expandProblem{message: fmt.Sprintf("%q is not the name of a variable", name),
				mend: "write ${NAME} or ${NAME:-default}, or $${ for a literal ${"}
		}
		value, set := env(name)
		result.values = append(result.values, value)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !set:
			return result, &expandProblem{message: fmt.Sprintf("the variable %s is not set", name),
				mend: fmt.Sprintf("set it, or write ${%s:-default}", name), unset: true}
		}
		out.WriteString(value)
		result.names = append(result.names, name)
		text = rest
	}
}
