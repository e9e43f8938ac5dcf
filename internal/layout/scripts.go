package layout

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	used     = regexp.MustCompile(`\b(KEYS|ARGV)\[(?:(\d+)\])?`) // KEYS[2], and KEYS[ of what is computed
	numbers  = regexp.MustCompile(`\b(\d+)(?:\s?[-–…]\s?(\d+))?`)
	returns  = regexp.MustCompile(`(?i)\breturns?\b`)
	sections = regexp.MustCompile(`\b(KEYS|ARGV|Returns)\b`)
)

// checkScripts wants each Lua script to begin with a comment that says what it is for, what every key and argument is
// that it uses, and what it returns. Those used by number are told either one by one, "ARGV[4] how many", or as a list,
// "ARGV: 1-3 as in all scripts; 4 how many".
func checkScripts(tree fs.FS) ([]Offence, error) {
	var offences []Offence
	err := eachFile(tree, func(name string, text []byte) error {
		if path.Ext(name) != ".lua" {
			return nil
		}
		for _, missing := range missingInHeader(string(text)) {
			offences = append(offences, Offence{Path: name, Line: 1, Text: missing +
				": a script's caller is in another language and sees nothing but its header"})
		}
		return nil
	})
	return offences, err
}

func missingInHeader(script string) []string {
	header, body := splitHeader(script)
	if header == "" {
		return []string{"has no header"}
	}
	var missing []string
	if !returns.MatchString(header) {
		missing = append(missing, "the header does not say what it returns")
	}
	for _, match := range used.FindAllStringSubmatch(body, -1) {
		list, number := match[1], match[2]
		if number == "" && strings.Contains(header, list) || number != "" && tells(header, list, number) {
			continue
		}
		if text := fmt.Sprintf("the header does not say what %s is", strings.TrimSuffix(match[0], "[")); !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	return missing
}

// tells says whether a header names list[number], or has the number, or a range around it, in its part about the list.
func tells(header, list, number string) bool {
	if strings.Contains(header, list+"["+number+"]") {
		return true
	}
	n, _ := strconv.Atoi(number)
	places := sections.FindAllStringIndex(header, -1)
	for i, place := range places {
		if header[place[0]:place[1]] != list {
			continue
		}
		end := len(header)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		for _, found := range numbers.FindAllStringSubmatch(header[place[1]:end], -1) {
			first, _ := strconv.Atoi(found[1])
			last, err := strconv.Atoi(found[2])
			if err != nil {
				last = first
			}
			if first <= n && n <= last {
				return true
			}
		}
	}
	return false
}

// splitHeader parts a script into its leading comment and the code after it. A line that tells Redis the language
// ("#!lua") may come before both.
func splitHeader(script string) (header, body string) {
	if strings.HasPrefix(script, "#!") {
		_, script, _ = strings.Cut(script, "\n")
	}
	rest := script
	for strings.HasPrefix(rest, "--") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return script[:len(script)-len(rest)], rest
}
