package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"foyer/internal/services"
)

// nginxConf runs nginx in the foreground as one process, with all that it writes in the folder it was given.
const nginxConf = `
daemon off;
master_process off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	access_log off;
	%[3]s
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	types { text/html html; text/css css; }
	server {
		listen 127.0.0.1:%[2]d;
		%[4]s
	}
}
`

// nginx serves the pages given, by path, and answers with its base URL.
func nginx(t *testing.T, pages map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for path, text := range pages {
		write(t, filepath.Join(folder, "pages", path), text)
	}
	return nginxIn(t, folder, "", "root "+folder+"/pages;")
}

// nginxIn starts nginx with all that it writes in a folder: http is more for that block of its configuration, server what
// it serves.
func nginxIn(t *testing.T, folder, http, server string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Fatal("nginx is missing; mend it with: apt-get install nginx-light, or make test-deps")
		}
	}
	port := services.FreePort(t)
	conf := filepath.Join(folder, "nginx.conf")
	write(t, conf, fmt.Sprintf(nginxConf, folder, port, http, server))
	run(t, exec.Command(program, "-c", conf, "-p", folder, "-e", filepath.Join(folder, "error.log")))
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	answers(t, base)
	return base
}

// run starts a program that ends with the test.
func run(t *testing.T, program *exec.Cmd) {
	t.Helper()
	var said strings.Builder
	program.Stderr = &said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Signal(syscall.SIGTERM)
		_ = program.Wait()
		if t.Failed() && said.Len() > 0 {
			t.Logf("%s said:\n%s", program.Path, said.String())
		}
	})
}

// answers waits until a server answers.
func answers(t *testing.T, base string) {
	t.Helper()
	eventually(t, 20*time.Second, base+" answers", func() bool {
		answer, err := http.Get(base + "/_foyer/health") // behind it may be foyer, where any other path takes a place
		if err != nil {
			return false
		}
		answer.Body.Close()
		return true
	})
}

// write makes a file that any account may read, since nginx may run under another.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for folder := filepath.Dir(file); strings.HasPrefix(folder, os.TempDir()+"/"); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}
