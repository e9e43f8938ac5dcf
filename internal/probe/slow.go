package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

const (
	slowFor    = 40 * time.Second // each mode
	visitEvery = 100 * time.Millisecond
)

// slowModes are the three ways of slowhttptest to keep a connection busy: a header, a body, and an answer that never
// ends.
var slowModes = []struct {
	name string
	args []string
	path string
}{
	{"header", []string{"-H", "-i", "5", "-x", "24"}, "/"},
	{"body", []string{"-B", "-i", "5", "-s", "8192", "-x", "10"}, "/"},
	{"read", []string{"-X", "-w", "512", "-y", "1024", "-n", "5", "-z", "32", "-k", "3"}, "/large"},
}

// probeSlow has a thousand dawdlers come in each of the modes, and visits at the same time.
func probeSlow(ctx context.Context, s *stage, out io.Writer) error {
	tool, err := exec.LookPath("slowhttptest")
	if err != nil {
		return errors.New("slowhttptest is missing; mend it with: apt-get install slowhttptest")
	}
	failures := 0
	fmt.Fprintf(out, "%-8s %8s %8s %10s %10s %12s\n", "mode", "visits", "failed", "p50", "p99", "memory")
	for _, mode := range slowModes {
		args := append(slices.Clone(mode.args), "-c", "1000", "-r", "200", "-p", "5",
			"-l", strconv.Itoa(int(slowFor/time.Second)), "-u", "https://"+s.edge+mode.path)
		attack := exec.CommandContext(ctx, tool, args...)
		if err := attack.Start(); err != nil {
			return fmt.Errorf("run slowhttptest: %w", err)
		}
		ended := make(chan error, 1)
		go func() { ended <- attack.Wait() }()
		took, failed := visit(ctx, "https://"+s.edge+"/", ended)
		failures += failed
		slices.Sort(took)
		if len(took) == 0 {
			return fmt.Errorf("nobody could visit during mode %s", mode.name)
		}
		fmt.Fprintf(out, "%-8s %8d %8d %10v %10v %10d kB\n", mode.name, len(took)+failed, failed, took[len(took)/2].Round(time.Millisecond),
			took[len(took)*99/100].Round(time.Millisecond), s.memory()>>10)
	}
	if failures > 0 {
		return fmt.Errorf("%d visits failed", failures)
	}
	return nil
}

// visit asks for a page again and again, on a new connection each time, until the attack has ended.
func visit(ctx context.Context, page string, ended <-chan error) (took []time.Duration, failed int) {
	visitor := client()
	for {
		select {
		case <-ended:
			return took, failed
		case <-time.After(visitEvery):
		}
		started := time.Now()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err == nil {
			var answer *http.Response
			if answer, err = visitor.Do(request); err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				err = errors.Join(err, answer.Body.Close())
				if answer.StatusCode != http.StatusOK {
					err = errors.Join(err, errors.New(answer.Status))
				}
			}
		}
		if err != nil {
			failed++
			continue
		}
		took = append(took, time.Since(started))
	}
}
