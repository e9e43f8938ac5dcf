package e2e

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPromises_NameTestsThatExist keeps the tables of promises honest.
func TestPromises_NameTestsThatExist(t *testing.T) {
	root := os.DirFS("../..")
	var source strings.Builder
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") && !strings.Contains(path, "/testdata/") {
			return nil
		}
		source.WriteString("\n" + path + "\n")
		if !strings.HasSuffix(path, ".go") {
			return nil // the name of a scenario is the name of its file
		}
		text, err := fs.ReadFile(root, path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)(?:/([A-Za-z0-9_]+))?`")
	for _, file := range []string{"docs/promises.md", "README.md"} {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		found := named.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s names no test", file)
		}
		for _, name := range found {
			if !strings.Contains(source.String(), "\nfunc "+name[1]+"(") {
				t.Errorf("%s names %s, which is not there", file, name[1])
			}
			if name[2] != "" && !strings.Contains(source.String(), name[2]) {
				t.Errorf("%s names %s/%s, and nothing is called %s", file, name[1], name[2], name[2])
			}
		}
	}
}
