package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watched watches files until the test ends, and answers with where each change arrives.
func watched(t *testing.T, files ...string) <-chan struct{} {
	t.Helper()
	changes, ended := make(chan struct{}, 100), make(chan error, 1)
	armed := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ended <- Watch(ctx, func() []string { armed <- struct{}{}; return files }, func() { changes <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for range 2 { // once to arm, and once more to know what there is
		<-armed
	}
	settle()
	return changes
}

// settle gives the watcher the time to read the files before they are changed.
func settle() { <-time.After(20 * time.Millisecond) }

func wantChange(t *testing.T, changes <-chan struct{}) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(10 * time.Second):
		t.Fatal("the change is not seen")
	}
}

func wantQuiet(t *testing.T, changes <-chan struct{}) {
	t.Helper()
	select {
	case <-changes:
		t.Fatal("a change is seen where there is none")
	case <-time.After(5 * quiet):
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWatch_SeesAFileWrittenInPlaceAndReplaced(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "foyer.yaml")
	write(t, file, "one")
	changes := watched(t, file)
	write(t, file, "two")
	wantChange(t, changes)

	write(t, file+"~", "three")
	if err := os.Rename(file+"~", file); err != nil {
		t.Fatal(err)
	}
	wantChange(t, changes)

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantChange(t, changes)
	write(t, file, "four")
	wantChange(t, changes)
}

func TestWatch_TellsAChangeInStepsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foyer.yaml")
	write(t, file, "one")
	changes := watched(t, file)
	for _, text := range []string{"", "t", "tw", "two"} {
		write(t, file, text)
	}
	wantChange(t, changes)
	wantQuiet(t, changes)
}

func TestWatch_IgnoresNeighboursAndWhatStaysTheSame(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "foyer.yaml")
	write(t, file, "one")
	changes := watched(t, file)
	write(t, filepath.Join(folder, "foyer.state"), "…")
	write(t, file, "one")
	wantQuiet(t, changes)
}

// TestWatch_SeesAVolumeSwapped does what the kubelet does with a ConfigMap: foyer.yaml → ..data/foyer.yaml, and ..data is
// a link that is renamed over.
func TestWatch_SeesAVolumeSwapped(t *testing.T) {
	folder := t.TempDir()
	publish := func(version, text string) {
		if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, version, "foyer.yaml"), text)
		link := filepath.Join(folder, "..data_tmp")
		if err := os.Symlink(version, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(folder, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	publish("..1", "one")
	file := filepath.Join(folder, "foyer.yaml")
	if err := os.Symlink(filepath.Join("..data", "foyer.yaml"), file); err != nil {
		t.Fatal(err)
	}
	changes := watched(t, file)
	for _, version := range []string{"2", "3"} {
		publish(".."+version, version)
		wantChange(t, changes)
		if err := os.RemoveAll(filepath.Join(folder, "..1")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWatch_FailsWhereThereIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none", "foyer.yaml")
	if err := Watch(t.Context(), func() []string { return []string{file} }, func() {}); err == nil {
		t.Error("a folder that is not there is watched")
	}
}

func TestFiles_AreThoseThatTheConfigurationNames(t *testing.T) {
	cfg := Default()
	cfg.Server.TLS = TLS{Cert: "cert.pem", Key: "key.pem"}
	cfg.Tokens.Keys = []Key{{ID: "1", Ed25519File: "token.pem"}, {ID: "2", Secret: "…"}}
	cfg.Gates = []Gate{{Page: Page{Template: "page.html"}}, {Page: Page{Template: "page.html"}}, {}}
	if got := cfg.Files(); len(got) != 4 {
		t.Errorf("got %v", got)
	}
}
