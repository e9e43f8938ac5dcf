package services

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRedisServer_IsEmptyAfterKillAndRestart(t *testing.T) {
	server := PrivateRedis(t)
	client := redisClient(t, server.URL())
	if err := client.Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Fatal("it answers after Kill")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if n, err := redisClient(t, server.URL()).Exists(t.Context(), "k").Result(); n != 0 || err != nil {
		t.Errorf("%d keys are left, error %v", n, err)
	}
}

func TestRedisServer_KeepsWhatItsArgumentsSay(t *testing.T) {
	server := PrivateRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	if err := redisClient(t, server.URL()).Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Kill(), server.Restart()); err != nil {
		t.Fatal(err)
	}
	if n, err := redisClient(t, server.URL()).Exists(t.Context(), "k").Result(); n != 1 || err != nil {
		t.Errorf("%d keys are left, error %v", n, err)
	}
}

func TestRedisServer_FrozenAnswersOnlyWhenThawed(t *testing.T) {
	server := PrivateRedis(t)
	client := redisClient(t, server.URL())
	if err := errors.Join(client.Ping(t.Context()).Err(), server.Freeze()); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := client.Ping(short).Err(); err == nil {
		t.Error("a frozen server answered")
	}
	if err := errors.Join(server.Thaw(), client.Ping(t.Context()).Err()); err != nil {
		t.Errorf("thawed, it does not answer: %v", err)
	}
}

func TestRedisServer_CloseRemovesItWhileFrozen(t *testing.T) {
	server, err := StartRedis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pid, dir := server.process.cmd.Process.Pid, server.process.dir
	if err := errors.Join(server.Freeze(), server.Close()); err != nil {
		t.Fatal(err)
	}
	if !allGone([]int{pid}) {
		t.Error("the process is left")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestStartRedis_SaysWhyItDidNotStart(t *testing.T) {
	if _, err := StartRedis(t.Context(), "--no-such-setting", "1"); err == nil || !containsText(err, "no-such-setting") {
		t.Errorf("the error does not show the server's log: %v", err)
	}
}

func containsText(err error, text string) bool { return strings.Contains(err.Error(), text) }
