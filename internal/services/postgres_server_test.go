package services

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPostgresServer_KeepsCommittedRowsThroughKillAndRestart(t *testing.T) {
	server := PrivatePostgres(t)
	query[any](t, server.URL(), "create table things as select 42 as n")
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), server.URL()); err == nil {
		conn.Close(t.Context())
		t.Fatal("it answers after Kill")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, server.URL(), "select n from things"); n != 42 {
		t.Errorf("the row says %d", n)
	}
}

func TestPostgresServer_FrozenAnswersNoOpenConnection(t *testing.T) {
	server := PrivatePostgres(t)
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(short, "select 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server answered: %v", err)
	}
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, server.URL(), "select 1"); n != 1 {
		t.Errorf("thawed, it answers %d", n)
	}
}

func TestPostgresServer_FlushesUnlessToldOtherwise(t *testing.T) {
	if got := query[string](t, PrivatePostgres(t).URL(), "show fsync"); got != "on" {
		t.Errorf("fsync is %s", got)
	}
	if got := query[string](t, PrivatePostgres(t, "fsync=off").URL(), "show fsync"); got != "off" {
		t.Errorf("with fsync=off it is %s", got)
	}
}

func TestPostgresServer_CloseRemovesProcessesAndFolder(t *testing.T) {
	server, err := StartPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pid, dir := server.process.cmd.Process.Pid, server.process.dir
	pids := append(children(pid), pid)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if !allGone(pids) {
		t.Error("a process is left")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestStartPostgres_SaysWhyItDidNotStart(t *testing.T) {
	_, err := StartPostgres(t.Context(), "no_such_setting=1")
	if err == nil {
		t.Fatal("it started")
	}
	if want := "no_such_setting"; !containsText(err, want) {
		t.Errorf("the error does not show the server's log: %v", err)
	}
}
