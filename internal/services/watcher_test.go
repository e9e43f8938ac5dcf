package services

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// orphanVariable makes the test process start servers and wait to be killed, instead of running tests.
const orphanVariable = "FOYER_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphanVariable) == "" {
		os.Exit(m.Run())
	}
	var servers [2]*process
	postgres, err := StartPostgres(context.Background())
	if err == nil {
		servers[0] = postgres.process
		var redis *RedisServer
		if redis, err = StartRedis(context.Background()); err == nil {
			servers[1] = redis.process
			err = redis.Freeze() // A frozen one must end as well.
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, p := range servers {
		fmt.Println(p.dir, p.cmd.Process.Pid)
	}
	fmt.Println()
	select {}
}

func TestWatcher_KeepsAServerThatNothingRefersTo(t *testing.T) {
	url := func() string {
		server, err := StartRedis(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return server.URL()
	}()
	for range 3 {
		runtime.GC()
	}
	time.Sleep(500 * time.Millisecond) // a watcher ends its server at once
	if err := redisClient(t, url).Ping(t.Context()).Err(); err != nil {
		t.Errorf("the server has ended with the last reference to it: %v", err)
	}
}

func TestWatcher_EndsTheServersOfAKilledProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphanVariable+"=1")
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dirs []string
	var pids []int
	for lines := bufio.NewScanner(output); lines.Scan() && lines.Text() != ""; {
		dir, number, _ := strings.Cut(lines.Text(), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(lines.Text())
		}
		dirs, pids = append(dirs, dir), append(append(pids, pid), children(pid)...)
	}
	if len(dirs) != 2 || allGone(pids) {
		t.Fatalf("its servers do not run: %v %v", dirs, pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	waitFor(t, "the processes to end", func() bool { return allGone(pids) })
	for _, dir := range dirs {
		waitFor(t, "the folder to go", func() bool { _, err := os.Stat(dir); return errors.Is(err, os.ErrNotExist) })
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
