package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// disk is where foyer writes: its ledger, its state file and its log.
type disk struct {
	folder string // as foyer sees it
	seen   string // as the test sees it
	start  func(args ...string) *exec.Cmd
	fill   func(t *testing.T, pid int)
	free   func(t *testing.T, pid int)
}

// limited is a disk on which no file of a process may grow any more once it is full, by its resource limit: any user
// may do that.
func limited(t *testing.T) *disk {
	limit := func(size string) func(*testing.T, int) {
		return func(t *testing.T, pid int) {
			t.Helper()
			text, err := exec.Command("prlimit", "--pid", fmt.Sprint(pid), "--fsize="+size+":unlimited").CombinedOutput()
			if err != nil {
				t.Fatalf("limit the size of files: %v: %s", err, text)
			}
		}
	}
	folder := t.TempDir()
	return &disk{
		folder: folder, seen: folder, fill: limit("1"), free: limit("unlimited"),
		start: func(args ...string) *exec.Cmd { return exec.Command(binary, args...) },
	}
}

// mounted is a real disk of 4 MB, in memory and in a namespace of its own, which ends with the test; nil with the reason
// where the machine lets nobody mount one.
func mounted(t *testing.T) (*disk, error) {
	folder := t.TempDir()
	keeper := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=4m none "$0" && echo mounted && exec cat`, folder)
	input, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := keeper.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = keeper.Wait()
	})
	said := make([]byte, len("mounted"))
	if _, err := io.ReadFull(output, said); err != nil {
		return nil, errors.New("nobody may mount a disk here")
	}
	d := &disk{folder: folder, seen: fmt.Sprintf("/proc/%d/root%s", keeper.Process.Pid, folder)}
	ballast := filepath.Join(d.seen, "ballast")
	d.start = func(args ...string) *exec.Cmd {
		inside := []string{"--user", "--mount", "--preserve-credentials", "--target", fmt.Sprint(keeper.Process.Pid), binary}
		return exec.Command("nsenter", append(inside, args...)...)
	}
	d.fill = func(t *testing.T, _ int) {
		file, err := os.Create(ballast)
		for size := 64 << 10; err == nil; size = max(size/2, 1) {
			for err == nil {
				_, err = file.Write(make([]byte, size))
			}
			if errors.Is(err, syscall.ENOSPC) && size > 1 {
				err = nil
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		_ = file.Close()
	}
	d.free = func(t *testing.T, _ int) {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	return d, nil
}
