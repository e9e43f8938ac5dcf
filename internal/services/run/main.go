package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"foyer/internal/services"
)

// grace is what the command has to end after a signal before it is killed.
const grace = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	argv := os.Args[1:]
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		fmt.Fprintln(os.Stderr, "usage: run [--] COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	err := run(ctx, argv)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, argv []string) (err error) {
	if os.Getenv(services.PostgresVariable) == "" {
		server, failure := services.StartPostgres(ctx)
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		os.Setenv(services.PostgresVariable, server.URL())
	}
	if os.Getenv(services.RedisVariable) == "" {
		server, failure := services.StartRedis(ctx)
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		os.Setenv(services.RedisVariable, server.URL())
	}
	return command(ctx, argv)
}

// command runs argv in a process group of its own, which gets the signal when the context ends.
func command(ctx context.Context, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whatever of it did not end when asked
	}
	return err
}
