package main

import (
	"strings"
	"testing"
)

func TestFlags_SayWhatTheyTake(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no whole number":    {[]string{"bench", "--buyers", "x"}, `foyer bench: --buyers takes a whole number, such as 500, and got "x"; see foyer bench --help`},
		"a fraction":         {[]string{"gate", "set", "final", "--capacity", "1.5"}, `foyer gate set: --capacity takes a whole number, and got "1.5"`},
		"a number too far":   {[]string{"bench", "--tickets", "9223372036854775808"}, "--tickets takes a whole number, such as 100, and 9223372036854775808 is beyond"},
		"no number":          {[]string{"loadtest", "--rate", "fast"}, `--rate takes a number, such as 20, and got "fast"`},
		"no unit":            {[]string{"loadtest", "--for", "30"}, `--for takes a time with its unit, such as 30s or 5m, and got "30"`},
		"neither yes nor no": {[]string{"check", "--print=maybe"}, `--print takes true or false, and got "maybe"`},
		"nothing":            {[]string{"loadtest", "--visitors"}, "--visitors takes a whole number, such as 200, and nothing follows it"},
		"no file":            {[]string{"migrate", "-c"}, "foyer migrate: --config takes the file, such as foyer.yaml, and nothing follows it"},
		"unknown":            {[]string{"bench", "--bogus"}, "foyer bench: there is no flag --bogus; see foyer bench --help"},
		"unknown, short":     {[]string{"loadtest", "-z"}, "there is no flag -z"},
		"no name":            {[]string{"bench", "--=x"}, "--=x names no flag: one is written --name or --name=value"},
		"two that exclude":   {[]string{"check", "--print", "--json"}, "foyer check takes one of --print, --json, --schema at a time"},
		"an argument more":   {[]string{"version", "now"}, "foyer version takes flags alone, and got 1 argument; see foyer version --help"},
		"no argument":        {[]string{"explain"}, "foyer explain takes METHOD and URL, and got 0 arguments"},
		"no page":            {[]string{"loadtest"}, "foyer loadtest takes URL, one or more, and got none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tc.args)
			if exitCode(err) != exitMisuse || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "strconv") {
				t.Errorf("it is told in the words of a library: %v", err)
			}
		})
	}
}
