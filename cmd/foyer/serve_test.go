package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestServe_StartsWithoutRedisAndNamesItsKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foyer.yaml")
	yaml := `server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", timeouts: {drain: 0s}}
store: {redis: "redis://127.0.0.1:1/0", state_file: ""}
tokens: {keys: [{id: one, secret: 0123456789abcdef0123456789abcdef}]}
gates: [{name: shop, upstream: "http://127.0.0.1:1", capacity: 1}]`
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	logs, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		root := newRoot()
		root.SetErr(writer)
		root.SetArgs([]string{"serve", "--config", file})
		ended <- root.ExecuteContext(ctx)
		writer.Close()
	}()
	said := ""
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		if strings.Contains(lines.Text(), "redis does not answer") {
			said = lines.Text()
			stop()
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if !strings.Contains(said, "store.redis: see that Redis runs") {
		t.Errorf("it logged %q of a Redis that does not answer", said)
	}
}
