package main

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestServeUntil_LetsRequestsInFlightFinish(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener, err := listen(ctx, "127.0.0.1:0")
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
	listener, err := listen(ctx, "127.0.0.1:0")
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
