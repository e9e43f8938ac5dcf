package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// TestStateFile_SaysOnceThatTheDiskIsFullAndOnceThatItIsNot has the file that is to replace the state file lie on a
// device that is full.
func TestStateFile_SaysOnceThatTheDiskIsFullAndOnceThatItIsNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foyer.state")
	core, logs := observer.New(zap.InfoLevel)
	told := make(chan error, 100)
	stores, err := Open(t.Context(), Settings{StateFile: path, Logger: zap.New(core), StateSaved: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer stores.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", path+".next"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stores.Run(ctx) }()
	for range 2 {
		if err := <-told; err == nil {
			t.Error("a save to a full disk is told as one that worked")
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
		t.Errorf("the state file is %q after %q: %v", now, before, err)
	}
	if err := os.Remove(path + ".next"); err != nil {
		t.Fatal(err)
	}
	for err := range told { // one more may have failed meanwhile
		if err == nil {
			break
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var said []string
	for _, line := range logs.All() {
		said = append(said, line.Message)
	}
	if len(said) != 2 || said[0] != "state is not saved" || said[1] != "state is saved again" {
		t.Errorf("the log says %q", said)
	}
}

func TestStateFile_SaysWhatHelpsWhereItCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken, err := Open(t.Context(), Settings{StateFile: filepath.Join(folder, "taken.state")})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tc := range map[string]struct {
		settings Settings
		want     string
	}{
		"broken":         {Settings{StateFile: write("broken.state", "{")}, "move it away and start again; without it those in line begin anew"},
		"another format": {Settings{StateFile: write("old.state", `{"version":9}`)}, "it is of format 9, and this foyer reads format 1"},
		"with Redis":     {Settings{StateFile: write("redis.state", "{"), Redis: "redis://127.0.0.1:1/0"}, "the line is in Redis"},
		"taken":          {Settings{StateFile: filepath.Join(folder, "taken.state")}, "each process needs a file of its own"},
		"no folder":      {Settings{StateFile: filepath.Join(folder, "none", "foyer.state")}, "a folder that is there and that this process may write to"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), tc.settings)
			for _, want := range []string{"store.state_file: ", tc.settings.StateFile, tc.want} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
		})
	}
}
