package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// environment is a look-up in a fixed set of variables, written as NAME=value.
func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

// testKey is long enough to sign with.
const testKey = "0123456789abcdef0123456789abcdef"

// testEnvironment has all that the sample and the golden files ask for.
var testEnvironment = environment("FOYER_KEY="+testKey, "STAFF_KEY=staff-secret", "STRIPE_SECRET_KEY=sk_test_1",
	"STRIPE_WEBHOOK_SECRET=whsec_1", "EMPTY=", "FIFTY=50", "WORDS=lots of words")

// TestParse_ReportsMatchGoldenFiles reads every testdata/*.yaml and compares the report with the .txt beside it.
func TestParse_ReportsMatchGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, report := Parse(filepath.Base(file), data, testEnvironment)
			got := report.String() + "\n"
			for _, warning := range report.Warnings {
				got += "\nwarning: " + warning.String() + "\n"
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
