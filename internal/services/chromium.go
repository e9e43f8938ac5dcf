package services

import (
	"os/exec"
	"testing"
)

// Chromium is the path of a browser for tests of pages.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("chromium is not installed: sudo apt-get install chromium (or: make test-deps)")
	return ""
}
