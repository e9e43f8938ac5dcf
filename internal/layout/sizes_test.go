package layout

import (
	"io/fs"
	"strings"
	"testing"
)

func TestSizes_AreBounded(t *testing.T) {
	longFile := "package p\n" + strings.Repeat("\n", maxFileLines)
	longFunction := "package p\n\nfunc long() {" + strings.Repeat("\n", maxFunctionLines) + "}\n"
	runCases(t, checkSizes, []offending{
		{"at the limits", tree("p/a.go", longFile[:len(longFile)-1], "p/b.go", strings.Replace(longFunction, "\n}", "}", 1)), nil},
		{"a long file", tree("p/a.go", longFile), []string{"p/a.go: 300"}},
		{"a long function", tree("p/a.go", longFunction), []string{"p/a.go: long is longer than 60"}},
		{"a long test", tree("p/a_test.go", longFile+longFunction[len("package p\n"):]), nil},
	})
	excepting := func(tree fs.FS) ([]Offence, error) {
		return checkSizesBut(tree, map[string]string{"p/a.go": "a table", "p/b.go long": "a table"})
	}
	runCases(t, excepting, []offending{
		{"excepted", tree("p/a.go", longFile, "p/b.go", longFunction), nil},
		{"excepted without need", tree("p/a.go", longFile), []string{"p/b.go long: remove its exception"}},
	})
}
