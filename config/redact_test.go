package config

import (
	"fmt"
	"strings"
	"testing"
)

// secretsYAML writes the sentinel in every place and style a secret may be written in.
const secretsYAML = `server:
  admin_token: "SENTINEL1,SENTINEL2 SENTINEL3"
  listen: ":8080"
store: {redis: "redis://u:SENTINEL1@h/0", sqlite: a.db}
tokens:
  keys:
    - id: a
      secret: SENTINEL1,SENTINEL2 SENTINEL3
    - {id: b, secret: 'SENTINEL1,SENTINEL2 SENTINEL3'}
    - id: c
      secret: >-
        SENTINEL1,SENTINEL2
        SENTINEL3
    - {secret: "SENTINEL1,SENTINEL2 SENTINEL3", id: "d"}
    # - {id: old, secret: SENTINEL1}
  leeway: 1s
gates:
  - name: a
    upstream: http://127.0.0.1:3000
    capacity: 5
    bypass:
      - {header: {name: X-Staff, value: "SENTINEL1,SENTINEL2 SENTINEL3"}}
origin:
  payment:
    simulator:
      webhook_secrets:
      - SENTINEL1
      - "SENTINEL2"
    stripe: {webhook_secrets: [SENTINEL1, "SENTINEL2"], secret_key: SENTINEL3}
`

// TestReport_NeverShowsASecret breaks the file in every line, in the ways people break files, and looks at every
// problem, whichever it is.
func TestReport_NeverShowsASecret(t *testing.T) {
	lines := strings.Split(secretsYAML, "\n")
	for i, line := range lines {
		for name, broken := range map[string]string{
			"left out":       "",
			"tab":            "\t" + line,
			"indented":       "   " + line,
			"unindented":     strings.TrimLeft(line, " "),
			"unknown key":    line + "\nnonsense: 1",
			"open bracket":   line + " [",
			"open brace":     "x: {\n" + line,
			"open quote":     line + ` "`,
			"quote before":   `x: "` + "\n" + line,
			"no colon":       strings.Replace(line, ": ", " ", 1) + "\n:",
			"second":         "---\n" + line,
			"doubled":        line + "\n" + line,
			"half the line":  line[:len(line)/2],
			"anchor":         strings.Replace(line, ": ", ": &a ", 1),
			"misspelt":       strings.NewReplacer("secret:", "secrt:", "value:", "vaule:", "admin_token", "admintoken").Replace(line),
			"list for value": strings.Replace(line, "secret: ", "secret: - ", 1),
		} {
			keyless := name == "no colon" || name == "half the line" || name == "left out"
			if keyless && (strings.Contains(line, "SENTINEL") || strings.Contains(line, "secret")) {
				continue // without its key, nothing tells a secret from other text
			}
			changed := append(append(append([]string{}, lines[:i]...), broken), lines[i+1:]...)
			_, report := Parse("f.yaml", []byte(strings.Join(changed, "\n")), testEnvironment)
			shown := report.String() + fmt.Sprint(report.Warnings)
			if strings.Contains(shown, "SENTINEL") {
				t.Errorf("line %d, %s:\n%s", i+1, name, shown)
			}
		}
	}
}

func TestExcerpt_MarksTheColumnBesideAHiddenSecret(t *testing.T) {
	_, report := Parse("f.yaml", []byte("tokens: {keys: [{secret: '"+testKey+"', id: 5}]}\ngates: [{name: a, upstream: 'http://h', capacity: 1}]"), testEnvironment)
	want := ">   1 | tokens: {keys: [{secret: …, id: 5}]}\n                                        ^"
	if len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0].Excerpt, want) {
		t.Errorf("got\n%s\nwant\n%s", report, want)
	}
}

func TestDSN_StringHidesThePassword(t *testing.T) {
	for dsn, want := range map[DSN]string{
		"":                                       "",
		"redis://127.0.0.1:6379/0":               "redis://127.0.0.1:6379/0",
		"redis://:pass@h/0":                      "redis://:…@h/0",
		"postgres://user:pass@h/db?sslmode=off":  "postgres://user:…@h/db?sslmode=off",
		"postgres://user@h/db":                   "postgres://user@h/db",
		"postgres://h/db?user=a&password=secret": "…",
		"host=h password=secret":                 "…",
		"postgres://user:p%ss@h":                 "…",
	} {
		if got := dsn.String(); got != want {
			t.Errorf("%q is shown as %q, want %q", string(dsn), got, want)
		}
	}
}
