package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTimeout = time.Minute          // for a server to answer, on a busy machine
	stopTimeout  = 20 * time.Second     // for a server to end when asked, before it is killed
	pause        = 5 * time.Millisecond // between two looks at something awaited
	logTail      = 2_000                // bytes of a server's log shown when it does not start
)

// gate lets the server begin only when the watcher knows its process id: without a line on its input, because this
// process has died meanwhile, it ends.
const gate = `read -r line && exec "$@"`

// process is one server with its folder; it can be started again after it has ended.
type process struct {
	name    string
	dir     string
	as      *account
	watcher *watcher

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
}

// newProcess makes the folder and its watcher. The caller must close it.
func newProcess(name string, as *account) (*process, error) {
	dir, err := as.folder("foyer-" + name + "-")
	if err != nil {
		return nil, err
	}
	w, err := startWatcher(dir, as)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &process{name: name, dir: dir, as: as, watcher: w}, nil
}

// start runs argv with its output in the folder's log.
func (p *process) start(argv ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open log of %s: %w", p.name, err)
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", gate, "foyer-" + p.name}, argv...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = p.as.attributes()
	input, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make input of %s: %w", p.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // How it ended shows in its log.
	}()
	p.cmd, p.exited = cmd, exited
	if err := p.watcher.hold(cmd.Process.Pid); err != nil {
		return errors.Join(err, input.Close())
	}
	if _, err := input.Write([]byte("\n")); err != nil {
		return fmt.Errorf("let %s begin: %w", p.name, err)
	}
	return input.Close()
}

// run runs argv to its end, which must be a success.
func (p *process) run(ctx context.Context, argv ...string) error {
	if err := p.start(argv...); err != nil {
		return err
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("run %s: %w", argv[0], ctx.Err()), p.kill())
	}
	if state := p.cmd.ProcessState; !state.Success() {
		return fmt.Errorf("run %s: %s%s", argv[0], state, p.logEnd())
	}
	return p.watcher.forget()
}

// await tries ready until it succeeds. It ends with the context, or when the server has ended.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("await %s: %w (%w)%s", p.name, ctx.Err(), err, p.logEnd())
		case <-p.exited:
			return fmt.Errorf("await %s: it ended%s", p.name, p.logEnd())
		case <-time.After(pause):
		}
	}
}

// running tells whether the server has been started and has not ended.
func (p *process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// stop asks the server to end with the signal given and waits; one that does not end is killed, which is an error.
func (p *process) stop(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return nil
	}
	if err := p.signalLocked(syscall.SIGCONT); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.exited:
		return p.watcher.forget()
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("stop %s: it did not end within %s", p.name, stopTimeout), p.killLocked())
	}
}

// kill ends the server and its children as a crash would (SIGKILL) and waits until all are gone.
func (p *process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killLocked()
}

func (p *process) killLocked() error {
	if !p.running() {
		return nil
	}
	// A stopped parent makes no more children, and does not act upon the death of those it has.
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	pids := children(p.cmd.Process.Pid)
	for _, pid := range append(pids, p.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // It can fail only where there is nothing left to kill.
	}
	<-p.exited
	for deadline := time.Now().Add(stopTimeout); !allGone(pids); time.Sleep(pause) {
		if time.Now().After(deadline) {
			return fmt.Errorf("kill %s: its children %v did not end", p.name, pids)
		}
	}
	return p.watcher.forget()
}

// freeze stops the server and its children (SIGSTOP): connections stay open and get no answer.
func (p *process) freeze() error { return p.signal(syscall.SIGSTOP) }

// thaw lets a frozen server go on.
func (p *process) thaw() error { return p.signal(syscall.SIGCONT) }

// close kills the server and removes its folder.
func (p *process) close() error { return errors.Join(p.kill(), p.watcher.close()) }

func (p *process) signal(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return fmt.Errorf("send %s to %s: it does not run", signal, p.name)
	}
	return p.signalLocked(signal)
}

// signalLocked signals the server before its children, so that a stopped one makes no more of them.
func (p *process) signalLocked(signal syscall.Signal) error {
	pid := p.cmd.Process.Pid
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", signal, p.name, err)
	}
	for _, child := range children(pid) {
		if err := syscall.Kill(child, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("send %s to a child of %s: %w", signal, p.name, err)
		}
	}
	return nil
}

func (p *process) logFile() string { return filepath.Join(p.dir, "server.log") }

// logEnd is the end of the server's log, to be appended to an error's text.
func (p *process) logEnd() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil || len(text) == 0 {
		return ""
	}
	return "\n" + string(text[max(0, len(text)-logTail):])
}

// children returns the process ids of a process's children. Without Linux's /proc there are none to be seen.
func children(pid int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// allGone tells whether each process has ended; one that has ended and awaits its parent (Z) counts as such.
func allGone(pids []int) bool {
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		if !strings.HasPrefix(state, "Z") {
			return false
		}
	}
	return true
}
