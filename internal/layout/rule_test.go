package layout

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRules_AreKeptByThisTree(t *testing.T) {
	tree := os.DirFS("../..")
	if text, err := fs.ReadFile(tree, "go.mod"); err != nil || !strings.HasPrefix(string(text), "module "+module+"\n") {
		t.Fatalf("this is not the root of module %s: %v", module, err)
	}
	for _, rule := range Rules {
		t.Run(rule.Name, func(t *testing.T) {
			offences, err := rule.Check(tree)
			if err != nil {
				t.Fatal(err)
			}
			for _, offence := range offences {
				t.Error(offence)
			}
		})
	}
}

func TestRules_FailOnAFileThatDoesNotParse(t *testing.T) {
	if _, err := checkDocs(tree("proxy/doc.go", "package")); err == nil {
		t.Error("it was read")
	}
}

// offending is a case of a rule's test: what is found in a small tree, by path and a part of the text.
type offending struct {
	name string
	tree fstest.MapFS
	want []string // "path" or "path: part of the text"; none: the rule is kept
}

func runCases(t *testing.T, check func(fs.FS) ([]Offence, error), cases []offending) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			offences, err := check(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			if len(offences) != len(c.want) {
				t.Fatalf("%d offences, not %d: %v", len(offences), len(c.want), offences)
			}
			for i, want := range c.want {
				path, part, _ := strings.Cut(want, ": ")
				if offences[i].Path != path || !strings.Contains(offences[i].Text, part) {
					t.Errorf("got  %v\nwant %s", offences[i], want)
				}
			}
		})
	}
}

// tree makes a tree of alternating paths and texts.
func tree(pathsAndTexts ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i < len(pathsAndTexts); i += 2 {
		files[pathsAndTexts[i]] = &fstest.MapFile{Data: []byte(pathsAndTexts[i+1])}
	}
	return files
}

// importing is a Go file that imports the paths given.
func importing(paths ...string) string {
	var text strings.Builder
	text.WriteString("package p\n")
	for _, path := range paths {
		text.WriteString("import _ \"" + path + "\"\n")
	}
	return text.String()
}
