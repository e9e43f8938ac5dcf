package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs foyer check on a configuration and returns what it prints and the exit code.
func checked(t *testing.T, yaml string, flags ...string) (out, failure string, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foyer.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	var printed, said bytes.Buffer
	root := newRoot()
	root.SetOut(&printed)
	root.SetErr(&said)
	root.SetArgs(append([]string{"check", "--config", path}, flags...))
	err := root.ExecuteContext(t.Context())
	if err != nil {
		said.WriteString(err.Error())
	}
	return printed.String(), said.String(), exitCode(err)
}

const goodConfig = `
tokens: {keys: [{id: "1", secret: 0123456789abcdef0123456789abcdef}]}
gates:
  - {name: shop, match: {hosts: [tickets.example.com]}, upstream: "http://127.0.0.1:3000", capacity: 7}
upstreams: {"http://127.0.0.1:4000": {}}
`

func TestCheck_ExplainsEachGate(t *testing.T) {
	out, warnings, code := checked(t, goodConfig)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, warnings)
	}
	for _, want := range []string{"ok\n", "gate shop", "tickets.example.com", "http://127.0.0.1:3000", "at most 7 buyers"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(warnings, "is the upstream of no gate") {
		t.Errorf("no warning in\n%s", warnings)
	}
}

func TestCheck_NamesEveryProblemAndEndsWithTwo(t *testing.T) {
	_, problems, code := checked(t, "gates:\n  - {name: A, upstream: 5, capacity: 0}\n")
	if code != exitMisuse {
		t.Errorf("exit %d, want %d", code, exitMisuse)
	}
	for _, want := range []string{"foyer.yaml:2:12: gates[0].name", "gates[0].upstream", "gates[0].capacity", ">   2 |", "3 problems"} {
		if !strings.Contains(problems, want) {
			t.Errorf("no %q in\n%s", want, problems)
		}
	}
}

func TestCheck_JSONHoldsTheReport(t *testing.T) {
	for name, tc := range map[string]struct {
		yaml                      string
		code, problems, gateCount int
	}{
		"good":   {goodConfig, exitOK, 0, 1},
		"broken": {"gates: [{name: a, upstream: origin, capacity: x}]", exitMisuse, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, code := checked(t, tc.yaml, "--json")
			var answer struct {
				OK       bool
				Problems []struct {
					Line, Column int
					Key, Message string
				}
				Gates []struct{ Gate string }
			}
			if err := json.Unmarshal([]byte(out), &answer); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if code != tc.code || answer.OK != (code == exitOK) || len(answer.Problems) != tc.problems || len(answer.Gates) != tc.gateCount {
				t.Errorf("exit %d, %+v", code, answer)
			}
		})
	}
}

func TestCheck_PrintHidesSecrets(t *testing.T) {
	out, _, code := checked(t, goodConfig, "--print")
	if code != exitOK || strings.Contains(out, "0123456789abcdef") || !strings.Contains(out, "secret: …") || !strings.Contains(out, "idle: 2m") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestCheck_SaysThatTheFileIsNotThere(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"check", "--config", filepath.Join(t.TempDir(), "none.yaml")})
	root.SetOut(&bytes.Buffer{})
	if err := root.ExecuteContext(t.Context()); exitCode(err) != exitMisuse || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestCounted_KnowsOneFromMany(t *testing.T) {
	for n, want := range map[int]string{0: "0 migrations were", 1: "1 migration was", 2: "2 migrations were"} {
		if got := counted(n, "migration was", "migrations were"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
