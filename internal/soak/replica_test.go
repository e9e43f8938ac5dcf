package soak

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"foyer/internal/services"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "foyer-soak-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		binary = filepath.Join(folder, "foyer")
		if text, err := exec.Command("go", "build", "-o", binary, "foyer/cmd/foyer").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build foyer: %v\n%s", err, text)
			return 1
		}
		return m.Run()
	}())
}

// replica is a foyer serve that is killed and started again on the same ports, with its state file.
type replica struct {
	edge, admin string
	folder      string

	mu  sync.Mutex
	cmd *exec.Cmd
}

// newReplica writes the configuration, with two %s for the addresses to listen on, and starts the replica.
func newReplica(t *testing.T, configuration string) *replica {
	t.Helper()
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", services.FreePort(t)) }
	edge, admin := address(), address()
	r := &replica{edge: "http://" + edge, admin: "http://" + admin, folder: t.TempDir()}
	text := fmt.Sprintf(configuration, edge, admin)
	if err := os.WriteFile(filepath.Join(r.folder, "foyer.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.kill()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(r.folder, "log"))
			t.Logf("the end of the log of %s:\n%s", r.edge, log[max(0, len(log)-4000):])
		}
	})
	return r
}

// start runs the program; its log goes on in the same file. It dies with this process.
func (r *replica) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(r.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	r.cmd = exec.Command(binary, "serve", "--config", "foyer.yaml")
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = r.folder, log, log
	return r.cmd.Start()
}

// kill ends it with -9.
func (r *replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.cmd.Process.Signal(syscall.SIGKILL) // it can fail only where it has ended already
	_ = r.cmd.Wait()                          // how it ended is known
}

// awaitReady waits until the replica serves.
func (r *replica) awaitReady(ctx context.Context) error {
	for {
		answer, err := http.Get(r.admin + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("await %s: %w", r.admin, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
