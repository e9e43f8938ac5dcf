package services

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// The environment variables that name servers already running, as URLs. Tests then start none of their own to share.
const (
	PostgresVariable = "FOYER_TEST_POSTGRES"
	RedisVariable    = "FOYER_TEST_REDIS"
)

// tidyTimeout bounds making and removing one test's schema or keys.
const tidyTimeout = 30 * time.Second

// TB is what this package needs of testing.TB, so that programs outside tests can use it without package testing.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// running keeps the shared servers reachable: the garbage collector closes the pipe of one that is not, and at the end of
// the pipe its watcher kills it.
var running struct {
	postgres *PostgresServer
	redis    *RedisServer
}

// The servers that the tests of one process share. They end with the process, by their watchers.
var (
	sharedPostgres = sync.OnceValues(func() (string, error) {
		if url := os.Getenv(PostgresVariable); url != "" {
			return url, nil
		}
		server, err := StartPostgres(context.Background())
		if err != nil {
			return "", err
		}
		running.postgres = server
		return server.URL(), nil
	})
	sharedRedis = sync.OnceValues(func() (string, error) {
		if url := os.Getenv(RedisVariable); url != "" {
			return url, nil
		}
		server, err := StartRedis(context.Background())
		if err != nil {
			return "", err
		}
		running.redis = server
		return server.URL(), nil
	})
)

// Postgres returns the URL of the shared server with a new, empty schema as its search path. The schema is dropped when
// the test ends.
func Postgres(t TB) string {
	t.Helper()
	server, err := sharedPostgres()
	if err != nil {
		t.Fatalf("a Postgres for this test: %v", err)
	}
	schema := uniqueName()
	if err := execute(server, "create schema "+schema); err != nil {
		t.Fatalf("a schema for this test: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(server, "drop schema "+schema+" cascade"); err != nil {
			t.Errorf("tidy up: %v", err)
		}
	})
	parsed, err := url.Parse(server)
	if err != nil {
		t.Fatalf("read the URL of Postgres: %v", err)
	}
	query := parsed.Query()
	query.Set("search_path", schema)
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// Redis returns the URL of the shared server and a prefix for the keys of this test. Keys with the prefix are removed
// when the test ends.
func Redis(t TB) (url, prefix string) {
	t.Helper()
	url, err := sharedRedis()
	if err != nil {
		t.Fatalf("a Redis for this test: %v", err)
	}
	prefix = uniqueName() + ":"
	t.Cleanup(func() {
		if err := removeKeys(url, prefix); err != nil {
			t.Errorf("tidy up: %v", err)
		}
	})
	return url, prefix
}

// PrivatePostgres starts a server for this test alone, which ends with it.
func PrivatePostgres(t TB, settings ...string) *PostgresServer {
	t.Helper()
	server, err := StartPostgres(context.Background(), settings...)
	if err != nil {
		t.Fatalf("a Postgres for this test: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("tidy up: %v", err)
		}
	})
	return server
}

// PrivateRedis starts a server for this test alone, which ends with it.
func PrivateRedis(t TB, arguments ...string) *RedisServer {
	t.Helper()
	server, err := StartRedis(context.Background(), arguments...)
	if err != nil {
		t.Fatalf("a Redis for this test: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("tidy up: %v", err)
		}
	})
	return server
}

func uniqueName() string { return "foyer_test_" + strings.ToLower(rand.Text()[:12]) }

func execute(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func removeKeys(server, prefix string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	options, err := redis.ParseURL(server)
	if err != nil {
		return fmt.Errorf("read the URL of Redis: %w", err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	keys := client.Scan(ctx, 0, prefix+"*", 1_000).Iterator()
	for keys.Next(ctx) {
		if err := client.Unlink(ctx, keys.Val()).Err(); err != nil {
			return fmt.Errorf("remove key: %w", err)
		}
	}
	if err := keys.Err(); err != nil {
		return fmt.Errorf("list keys: %w", err)
	}
	return nil
}
