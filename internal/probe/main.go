package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run runs the probe that is named.
func run(ctx context.Context, args []string, out io.Writer) error {
	probes := map[string]func(context.Context, *stage, io.Writer) error{"h2spec": probeHTTP2, "slowhttp": probeSlow}
	if len(args) != 1 || probes[args[0]] == nil {
		return fmt.Errorf("usage: probe h2spec | slowhttp")
	}
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return probes[args[0]](ctx, s, out)
}
