package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, as documented for every subcommand.
const (
	exitOK      = 0
	exitFailure = 1
	exitMisuse  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "foyer:", err)
	}
	os.Exit(exitCode(err))
}

// misuse is an error of the person who typed the command or wrote the configuration, not of the program.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// exitCode is what the process ends with.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, new(misuse)):
		return exitMisuse
	default:
		return exitFailure
	}
}
