package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	quiet      = 100 * time.Millisecond // how long nothing must happen before a change counts as complete
	patience   = time.Second            // and how long it may go on happening
	kubernetes = "..data"               // the symbolic link by which Kubernetes swaps all files of a volume at once
)

// Files are the files that a configuration names, and whose content is a part of it: certificate, keys and templates.
func (c *Config) Files() []string {
	var files []string
	add := func(name string) {
		if name != "" && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	add(c.Server.TLS.Cert)
	add(c.Server.TLS.Key)
	for _, key := range c.Tokens.Keys {
		add(key.Ed25519File)
	}
	for _, gate := range c.Gates {
		add(gate.Page.Template)
	}
	return files
}

// Watch calls changed when the content of a file is another one than before, until ctx ends. It watches the folders of
// the files, so that it sees one that is replaced, as editors do, and a volume whose symbolic link is swapped, as
// Kubernetes does; and it waits until nothing more happens to them, since a file may be written in several steps.
// files is asked again after each call. An error means that the files cannot be watched here.
func Watch(ctx context.Context, files func() []string, changed func()) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer notify.Close()
	w := &watch{notify: notify, files: files}
	if err := w.arm(); err != nil {
		return err
	}
	w.seen = w.digests()
	for {
		if !w.await(ctx) {
			return nil
		}
		_ = w.arm() // a folder that has gone is looked for again with the next event
		if digests := w.digests(); !maps.Equal(digests, w.seen) {
			w.seen = digests
			changed()
			_ = w.arm()
		}
	}
}

// watch is what Watch knows.
type watch struct {
	notify *fsnotify.Watcher
	files  func() []string
	names  map[string]bool              // whose events concern us
	seen   map[string][sha256.Size]byte // by file
}

// arm watches the folders of all files, and of what they are links to.
func (w *watch) arm() (err error) {
	w.names = map[string]bool{}
	for _, file := range w.files() {
		named, absErr := filepath.Abs(file)
		if absErr != nil {
			return fmt.Errorf("watch %s: %w", file, absErr)
		}
		paths := []string{named}
		if real, linkErr := filepath.EvalSymlinks(named); linkErr == nil && real != named {
			paths = append(paths, real)
		}
		for _, path := range paths {
			folder := filepath.Dir(path)
			w.names[path], w.names[filepath.Join(folder, kubernetes)] = true, true
			if addErr := w.notify.Add(folder); addErr != nil {
				err = fmt.Errorf("watch %s: %w", folder, addErr)
			}
		}
	}
	return err
}

// await returns true when something has happened and has come to an end, false when ctx has ended.
func (w *watch) await(ctx context.Context) bool {
	var settled, late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case event := <-w.notify.Events:
			if !w.names[event.Name] || event.Op == fsnotify.Chmod {
				continue
			}
		case <-w.notify.Errors: // events may have been lost
		case <-settled:
			return true
		case <-late:
			return true
		}
		settled = time.After(quiet)
		if late == nil {
			late = time.After(patience)
		}
	}
}

// digests are the contents of all files; one that cannot be read is like an empty one.
func (w *watch) digests() map[string][sha256.Size]byte {
	digests := map[string][sha256.Size]byte{}
	for _, file := range w.files() {
		content, _ := os.ReadFile(file) // whoever loads it says what is wrong
		digests[file] = sha256.Sum256(content)
	}
	return digests
}
