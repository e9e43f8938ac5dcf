package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
)

// row is a line of the table in docs/configuration.md: key, value, default.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|")

// TestDocumentation_TableEqualsTheCode compares every row with Settings, in both directions and in the same order.
func TestDocumentation_TableEqualsTheCode(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range row.FindAllStringSubmatch(strings.ReplaceAll(string(text), `\|`, "¦"), -1) {
		got = append(got, fmt.Sprintf("%s | %s | %s", m[1], m[2], m[3]))
	}
	for _, setting := range Settings() {
		want = append(want, fmt.Sprintf("%s | %s | %s", setting.Path, valueCell(setting), defaultCell(setting)))
	}
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("row %d of docs/configuration.md is\n%s\nwant\n%s", i+1, g, w)
		}
	}
}

// TestDocumentation_ListsWhatNeedsARestart compares the list of fixed keys with the tags, sections for all that is in them.
func TestDocumentation_ListsWhatNeedsARestart(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "These keys are fixed while foyer runs")
	list, _, _ = strings.Cut(list, "; and whether")
	named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1)
	for _, setting := range Settings() {
		listed := false
		for _, m := range named {
			listed = listed || setting.Path == m[1] || strings.HasPrefix(setting.Path, m[1]+".")
		}
		if listed != setting.Restart {
			t.Errorf("%s: listed %v, needs a restart %v", setting.Path, listed, setting.Restart)
		}
	}
}

// valueCell says in a word what a key may hold.
func valueCell(s Setting) string {
	text := string(s.Kind)
	if len(s.OneOf) > 0 {
		text = strings.Join(s.OneOf, ", ")
	}
	if s.Unit != "" {
		text += " " + s.Unit
	}
	switch {
	case s.Min != "" && s.Max != "":
		text += fmt.Sprintf(", %s to %s", s.Min, s.Max)
	case s.Min != "":
		text += ", at least " + s.Min
	}
	return text
}

// defaultCell is the default as it would be written.
func defaultCell(s Setting) string {
	switch {
	case s.Required:
		return "required"
	case s.Default == "":
		return "none"
	}
	return "`" + s.Default + "`"
}

// TestSample_NamesEveryKey holds deploy/foyer.yaml to naming each key of the structs, in the sections they belong to;
// a commented line counts where a key cannot stand beside another one.
func TestSample_NamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../deploy/foyer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs := newSource("foyer.yaml", string(text)).parse(newNotes(newSource("", "")))
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	present := map[string]bool{}
	collect(present, "", docs[0].Body)
	commented := regexp.MustCompile(`(?m)^ *# .*\b(ed25519_file):`).MatchString(string(text))
	for _, setting := range Settings() {
		if !present[setting.Path] && !(setting.Path == "tokens.keys[].ed25519_file" && commented) {
			t.Errorf("deploy/foyer.yaml does not name %s", setting.Path)
		}
	}
}

// collect notes the paths of all keys of a node, as Settings writes them.
func collect(present map[string]bool, path string, node ast.Node) {
	present[path] = true
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, value := range n.Values {
			name := value.Key.GetToken().Value
			if path == "upstreams" {
				name = "<url>"
			}
			collect(present, join(path, name), value.Value)
		}
	case *ast.SequenceNode:
		for _, item := range n.Values {
			collect(present, path+"[]", item)
		}
	}
}

// TestSample_Loads reads the sample and the examples as they are delivered.
func TestSample_Loads(t *testing.T) {
	for _, name := range []string{"foyer.yaml", "examples/storefront.yaml", "examples/shop.yaml"} {
		data, err := os.ReadFile("../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, report := Parse(name, data, testEnvironment)
		if !report.OK() || len(report.Warnings) > 0 {
			t.Errorf("%s: %s\n%v", name, report, report.Warnings)
		}
	}
}
