package services

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// watch is the watcher's program: each line names the process to end, an empty one none; at the end of input it ends
// that process with its children and removes the folder.
const watch = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
	children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
	kill -KILL $pid $children 2>/dev/null
fi
rm -rf "$1" 2>/dev/null || { sleep 1; rm -rf "$1"; }
`

// watching holds the watchers until they are closed. A server that nothing refers to any more, as one that only its URL
// is known of, would otherwise end when the garbage collector closes the pipe.
var watching sync.Map // *watcher → struct{}

// watcher ends a server and removes its folder when this process ends, however it ends.
type watcher struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startWatcher(dir string, as *account) (*watcher, error) {
	cmd := exec.Command("/bin/sh", "-c", watch, "foyer-watcher", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = as.attributes()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make watcher's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start watcher: %w", err)
	}
	w := &watcher{cmd: cmd, pipe: pipe}
	watching.Store(w, struct{}{})
	return w, nil
}

// hold names the process to end.
func (w *watcher) hold(pid int) error { return w.tell(fmt.Sprintln(pid)) }

// forget says that there is none.
func (w *watcher) forget() error { return w.tell("\n") }

// close has the watcher finish and waits for it: afterwards the folder is gone.
func (w *watcher) close() error {
	watching.Delete(w)
	if err := w.pipe.Close(); err != nil {
		return fmt.Errorf("close watcher's pipe: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("remove server's folder: %w", err)
	}
	return nil
}

func (w *watcher) tell(line string) error {
	if _, err := io.WriteString(w.pipe, line); err != nil {
		return fmt.Errorf("tell watcher: %w", err)
	}
	return nil
}
