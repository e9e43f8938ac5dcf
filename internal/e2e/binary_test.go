package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "foyer-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		binary = filepath.Join(folder, "foyer")
		build := exec.Command("go", "build", "-o", binary, "foyer/cmd/foyer")
		if text, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build foyer: %v\n%s", err, text)
			return 1
		}
		return m.Run()
	}())
}

// foyer runs a command to its end and answers with what it printed and its exit code.
func foyer(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return foyerIn(t, t.TempDir(), args...)
}

// foyerIn does the same in a folder.
func foyerIn(t *testing.T, folder string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run foyer %v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// server is a running foyer serve.
type server struct {
	Edge, Admin string // base URLs
	File        string // the configuration

	cmd   *exec.Cmd
	ended chan struct{}
	log   *logbook
}

// serve starts foyer with the configuration given and waits until it is ready. It is stopped with the test.
func serve(t *testing.T, configuration string) *server {
	t.Helper()
	return serveIn(t, t.TempDir(), configuration)
}

// serveIn does the same in a folder that may hold the files of an earlier life.
func serveIn(t *testing.T, folder, configuration string) *server {
	t.Helper()
	file := filepath.Join(folder, "foyer.yaml")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{File: file, cmd: exec.Command(binary, "serve", "--config", file), ended: make(chan struct{}), log: &logbook{}}
	s.cmd.Dir = folder
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{})
	go s.read(errs, listening)
	t.Cleanup(func() {
		s.Stop(t)
		if t.Failed() {
			t.Logf("log of foyer:\n%s", s.log)
		}
	})
	select {
	case <-listening:
	case <-s.ended:
		t.Fatalf("foyer ended before it listened:\n%s", s.log)
	case <-time.After(20 * time.Second):
		t.Fatalf("foyer does not listen after 20 s:\n%s", s.log)
	}
	eventually(t, 20*time.Second, "foyer is ready", func() bool {
		answer, err := http.Get(s.Admin + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return s
}

// read keeps the log and looks for the line that names the addresses.
func (s *server) read(errs io.Reader, listening chan<- struct{}) {
	defer close(s.ended)
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		s.log.add(lines.Text())
		var line struct{ Msg, Edge, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			s.Edge, s.Admin = line.Edge, line.Admin
			close(listening)
		}
	}
	_ = s.cmd.Wait()
}

// Stop asks foyer to drain and waits until it has ended, with exit code 0.
func (s *server) Stop(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
		if code := s.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("foyer ended with exit code %d after SIGTERM", code)
		}
	case <-time.After(15 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
		t.Error("foyer still runs 15 s after SIGTERM")
	}
}

// Kill ends foyer with -9.
func (s *server) Kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
}

// logbook keeps the lines of a log.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
