package services

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

func TestPostgres_GivesEachTestAnEmptySchemaAndDropsIt(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = Postgres(t)
		query[any](t, first, "create table things as select 1 as n")
		if second := Postgres(t); query[*string](t, second, "select to_regclass('things')::text") != nil {
			t.Error("the second schema has the first one's table")
		}
	})
	if left := query[*string](t, first, "select current_schema()"); left != nil {
		t.Errorf("schema %q is still there after its test", *left)
	}
}

func TestRedis_RemovesTheKeysOfATestAndNoOthers(t *testing.T) {
	url, outer := Redis(t)
	client := redisClient(t, url)
	var inner string
	t.Run("inner", func(t *testing.T) {
		_, inner = Redis(t)
		for _, key := range []string{outer + "kept", inner + "gone", inner + "{gate}:gone"} {
			if err := client.Set(t.Context(), key, 1, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n := client.Exists(t.Context(), outer+"kept").Val(); n != 1 {
		t.Error("another test's key was removed")
	}
	if n := client.Exists(t.Context(), inner+"gone", inner+"{gate}:gone").Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// query runs one statement on a connection of its own and returns the first value, if there is a row.
func query[T any](t *testing.T, url, statement string) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries, options.ContextTimeoutEnabled = -1, true
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}
