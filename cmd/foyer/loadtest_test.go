package main

import (
	"strings"
	"testing"
)

func TestLoadtest_ReportsEveryVisit(t *testing.T) {
	a := startApp(t, strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1))
	root := newRoot()
	var out, people strings.Builder
	root.SetOut(&out)
	root.SetErr(&people)
	root.SetArgs([]string{"loadtest", a.Edge + "/api/events/final", "--gate", "shop", "--visitors", "5", "--over", "50ms", "--stay", "20ms"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "looked around       5") {
		t.Errorf("five visitors came and looked around, and the report says\n%s", &out)
	}
}

func TestLoadtest_RefusesWhatIsNoURL(t *testing.T) {
	if err := run(t.Context(), []string{"loadtest", "shop"}); exitCode(err) != exitMisuse {
		t.Errorf("got %v, want a misuse", err)
	}
}
