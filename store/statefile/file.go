package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"foyer/admission"
)

// Every is how often Run saves.
const Every = time.Second

// version is the format's; a file of another is refused.
const version = 1

// Errors of Open that the caller has advice for.
var (
	// ErrInUse is the error of a file that another process has open.
	ErrInUse = errors.New("in use by another process")
	// ErrBroken is the error of a file that is no state file, or one of another format.
	ErrBroken = errors.New("it cannot be read")
)

// File is an open state file. Make one with Open.
type File struct {
	path string
	lock *os.File
	read content
}

// content is what the file holds.
type content struct {
	Version int                        `json:"version"`
	Clean   bool                       `json:"clean"` // the process that wrote it had stopped serving
	Gates   map[string]admission.Image `json:"gates"`
}

// Open locks and reads a state file; one that does not exist is empty. It is marked as not cleanly closed at once. The
// error is ErrInUse where another process has it open, and ErrBroken where what it holds is no state. The caller must call Close.
func Open(path string) (*File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state file: %w", err)
	}
	f := &File{path: path, lock: lock}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open state file %s: %w", path, err), lock.Close())
	}
	return f, nil
}

func (f *File) open() error {
	if err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	} else if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	text, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.read = content{Version: version, Clean: true}
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &f.read); err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	if f.read.Version != version {
		return fmt.Errorf("%w: it is of format %d, and this foyer reads format %d", ErrBroken, f.read.Version, version)
	}
	return f.write(content{Version: version, Gates: f.read.Gates})
}

// Image is what the file held of a gate when it was opened, nil for nothing.
func (f *File) Image(gate string) *admission.Image {
	image, ok := f.read.Gates[gate]
	if !ok || image.Round == "" {
		return nil
	}
	return &image
}

// Clean reports whether the last process had stopped serving before it wrote the file: nothing has happened since.
func (f *File) Clean() bool { return f.read.Clean }

// Run saves what images returns, once a second until the context ends, and then once more, as a clean stop: nothing may
// happen to the gates from then on. What came of each save but the last is told to saved; one that failed is tried again.
func (f *File) Run(ctx context.Context, images func() map[string]admission.Image, saved func(error)) error {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return f.save(content{Version: version, Clean: true, Gates: images()})
		case <-ticker.C:
			saved(f.save(content{Version: version, Gates: images()}))
		}
	}
}

// Close gives the file up to other processes.
func (f *File) Close() error { return f.lock.Close() }

func (f *File) save(c content) error {
	if err := f.write(c); err != nil {
		return fmt.Errorf("save state file %s: %w", f.path, err)
	}
	return nil
}

// write replaces the file, so that a crash leaves either the old or the new one.
func (f *File) write(c content) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	next := f.path + ".next"
	if err := writeSynced(next, text); err != nil {
		return err
	}
	if err := os.Rename(next, f.path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func writeSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
