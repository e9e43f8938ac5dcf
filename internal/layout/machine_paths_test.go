package layout

import "testing"

func TestMachinePaths_AreFound(t *testing.T) {
	const home = "/ho" + "me/ann/"
	runCases(t, checkMachinePaths, []offending{
		{"ordinary paths", tree("README.md", "See /usr/lib/postgresql, framework/work/x, ~/work/, ${X}/work/ and https://example.org/root/.\n"), nil},
		{"a home folder", tree("README.md", "First line.\nRun "+home+"foyer.\n"), []string{"README.md: " + home}},
		{"a quoted one", tree("a.go", "package a\nconst x = \""+home+"\"\n"), []string{"a.go: one machine"}},
		{"a binary", tree("foyer", "\x00"+home), nil},
	})
}
