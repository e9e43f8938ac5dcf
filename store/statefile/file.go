package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"foyer/admission"
)

// version is that of the format; a file of another is as good as none.
const version = 1

// ErrLocked: another process has the file.
var ErrLocked = errors.New("another process uses it")

// File is an open state file. The zero value is of no use; make one with Open.
type File struct {
	path string
	lock *os.File
}

var _ admission.Keeper = (*File)(nil)

// content is what the file holds.
type content struct {
	Version int
	Kept    admission.Kept
}

// Open locks the file at path, which need not exist yet, for this process. ErrLocked where another has it.
func Open(path string) (*File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open state file: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		err = errors.Join(err, lock.Close())
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock state file %s: %w", path, ErrLocked)
		}
		return nil, fmt.Errorf("lock state file %s: %w", path, err)
	}
	return &File{path: path, lock: lock}, nil
}

// Load reads what was saved last.
func (f *File) Load() (kept admission.Kept, ok bool, err error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return admission.Kept{}, false, nil
	}
	if err != nil {
		return admission.Kept{}, false, fmt.Errorf("read state file: %w", err)
	}
	var read content
	if err := json.Unmarshal(text, &read); err != nil {
		return admission.Kept{}, false, fmt.Errorf("read state file %s: %w", f.path, err)
	}
	return read.Kept, read.Version == version, nil
}

// Save replaces the file.
func (f *File) Save(kept admission.Kept) error {
	text, err := json.Marshal(content{Version: version, Kept: kept})
	if err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	next := f.path + ".new"
	if err := write(next, text); err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	if err := os.Rename(next, f.path); err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	return syncFolder(filepath.Dir(f.path))
}

// Close gives up the lock.
func (f *File) Close() error {
	if err := f.lock.Close(); err != nil {
		return fmt.Errorf("close state file: %w", err)
	}
	return nil
}

// write makes a file that has reached the disk.
func write(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncFolder makes a rename reach the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open folder of state file: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("sync folder of state file: %w", err)
	}
	return nil
}
