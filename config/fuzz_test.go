package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse holds Parse to its promise for any text: no panic, and either a configuration or problems with a place.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "../deploy/foyer.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, report := Parse("f.yaml", data, testEnvironment)
		if (cfg == nil) == report.OK() {
			t.Fatalf("configuration %v with report %v", cfg, report)
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, p := range append(report.Problems, report.Warnings...) {
			if p.Line < 1 || p.Column < 1 || p.Line > lines || p.Message == "" || p.String() == "" {
				t.Fatalf("%+v has no place in a text of %d lines", p, lines)
			}
		}
		if cfg == nil {
			return
		}
		text, err := cfg.Print()
		if err != nil {
			t.Fatal(err)
		}
		if again, report := Parse("p.yaml", []byte(strings.ReplaceAll(text, redacted, testKey)), environment()); again == nil {
			t.Fatalf("%s\nin\n%s\nfrom\n%s", report, text, data)
		}
	})
}
