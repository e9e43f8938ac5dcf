package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"foyer/config"
)

func TestNewApp_NamesTheKeyOfAnAddressThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for key, addresses := range map[string][2]string{
		"server.listen": {taken.Addr().String(), "127.0.0.1:0"}, "server.admin": {"127.0.0.1:0", taken.Addr().String()},
	} {
		yaml := fmt.Sprintf(`server: {listen: "%s", admin: "%s"}
store: {state_file: ""}
gates: [{name: shop, upstream: "http://127.0.0.1:1", capacity: 1}]`, addresses[0], addresses[1])
		cfg, report := config.Parse("foyer.yaml", []byte(yaml), os.LookupEnv)
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		_, err := newApp(t.Context(), cfg, zap.NewNop(), fitting{})
		for _, want := range []string{"open " + key + " at " + taken.Addr().String(), "stop what listens there, or choose another address"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in %v", key, want, err)
			}
		}
	}
}

func TestListen_SaysWhatHelps(t *testing.T) {
	if _, err := listen(t.Context(), "--listen", "127.0.0.1"); err == nil || !strings.Contains(err.Error(), "as host:port") {
		t.Errorf("no port: %v", err)
	}
	for err, want := range map[error]string{
		syscall.EADDRINUSE: "stop what listens there", syscall.EADDRNOTAVAIL: "that this machine has", syscall.EACCES: "from 1024 on",
	} {
		if got := listenMend(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", err)}); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}

func TestServeUntil_LetsRequestsInFlightFinish(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener, err := listen(ctx, "a test", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, finish, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	server := plainServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		_, _ = io.WriteString(w, "done")
	}))
	go func() { ended <- serveUntil(ctx, server, listener, time.Minute) }()
	answer := make(chan string, 1)
	go func() {
		got, err := http.Get(baseURL("http", listener))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer got.Body.Close()
		text, _ := io.ReadAll(got.Body)
		answer <- string(text)
	}()
	<-began
	stop()
	close(finish)
	if got := <-answer; got != "done" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestServeUntil_WaitsNoLongerThanTheDrain(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener, err := listen(ctx, "a test", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan struct{}), make(chan error, 1)
	server := plainServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}))
	go func() { ended <- serveUntil(ctx, server, listener, 10*time.Millisecond) }()
	go func() {
		if got, err := http.Get(baseURL("http", listener)); err == nil {
			got.Body.Close()
		}
	}()
	<-began
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server waits for a request that never ends")
	}
}
