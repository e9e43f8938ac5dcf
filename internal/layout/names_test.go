package layout

import "testing"

func TestNames_SayWhatThingsHold(t *testing.T) {
	runCases(t, checkNames, []offending{
		{"good names", tree("proxy/handler.go", "package proxy\n", "proxy/handler_test.go", "package proxy_test\n"), nil},
		{"a package", tree("proxy/util/strings.go", "package util\n"), []string{"proxy/util/strings.go: util"}},
		{"a file", tree("proxy/types.go", "package proxy\n"), []string{"proxy/types.go: types"}},
		{"a test's file", tree("proxy/helpers_test.go", "package proxy\n"), []string{"proxy/helpers_test.go: helpers"}},
	})
}
