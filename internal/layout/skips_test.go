package layout

import "testing"

func TestSkips_AreFound(t *testing.T) {
	runCases(t, checkSkips, []offending{
		{"none", tree("p/a_test.go", "package p\nfunc TestA(t *testing.T) { t.Fatal() }\n"), nil},
		{"an input of a fuzz test", tree("p/a_test.go", "package p\nfunc FuzzA(f *testing.F) { f.Fuzz(func(t *testing.T) { t.Skip() }) }\n"), nil},
		{"a test", tree("p/a_test.go", "package p\nfunc TestA(t *testing.T) { if testing.Short() { t.Skipf(\"\") } }\n"),
			[]string{"p/a_test.go: TestA"}},
	})
}
