package layout

import "testing"

func TestDocs_OpenEveryPackage(t *testing.T) {
	runCases(t, checkDocs, []offending{
		{"a package", tree("proxy/doc.go", "// Package proxy is the edge.\npackage proxy\n", "proxy/handler.go", "package proxy\n"), nil},
		{"a command", tree("cmd/foyer/main.go", "// Command foyer is it all.\npackage main\n"), nil},
		{"a folder of tests only", tree("e2e/sale_test.go", "package e2e\n"), nil},
		{"no doc.go", tree("proxy/handler.go", "// Package proxy is the edge.\npackage proxy\n"), []string{"proxy: doc.go"}},
		{"an empty doc.go", tree("proxy/doc.go", "package proxy\n"), []string{"proxy: doc.go"}},
		{"a comment that opens with something else", tree("proxy/doc.go", "// The edge.\npackage proxy\n"), []string{"proxy: doc.go"}},
	})
}
