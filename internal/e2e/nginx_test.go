package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	types { text/html html; text/css css; }
	server {
		listen 127.0.0.1:%[2]d;
		root %[1]s/pages;
	}
}
`

// nginx serves the pages given, by path, and answers with its base URL.
func nginx(t *testing.T, pages map[string]string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Fatal("nginx is missing; mend it with: sudo apt-get install nginx-light, or make test-deps")
		}
	}
	folder, port := t.TempDir(), freePort(t)
	for path, text := range pages {
		file := filepath.Join(folder, "pages", path)
		write(t, file, text)
	}
	conf := filepath.Join(folder, "nginx.conf")
	write(t, conf, fmt.Sprintf(nginxConf, folder, port))
	server := exec.Command(program, "-c", conf, "-p", folder, "-e", filepath.Join(folder, "error.log"))
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	eventually(t, 10*time.Second, "nginx answers", func() bool {
		answer, err := http.Get(base)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return true
	})
	return base
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

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
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
