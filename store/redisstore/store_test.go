package redisstore

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/internal/services"
	"foyer/store/storetest"
)

// open is a gate of its own in the shared Redis, whose clock stands until it is advanced.
func open(t *testing.T) storetest.Gate {
	url, prefix := services.Redis(t)
	return openAt(t, url, prefix)
}

func openAt(t *testing.T, url, prefix string) storetest.Gate {
	return openWith(t, patient(t, url), prefix)
}

// patient is a client as Dial has it, but patient with a busy machine.
func patient(t *testing.T, url string) *redis.Client {
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// openWith is a gate over a client that others use too.
func openWith(t *testing.T, client *redis.Client, prefix string) storetest.Gate {
	store := New(Settings{Client: client, Prefix: prefix, Gate: "final"})
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	stand := func() {
		if err := client.HSet(t.Context(), store.keys.gate+"meta", "clock_ms", now.UnixMilli()).Err(); err != nil {
			t.Fatalf("set the clock: %v", err)
		}
	}
	stand()
	return storetest.Gate{
		Store: store,
		Advance: func(d time.Duration) {
			now = now.Add(d)
			stand()
		},
		Lose: func() {
			every, err := client.Keys(t.Context(), store.keys.gate+"*").Result()
			if err == nil && len(every) > 0 {
				err = client.Del(t.Context(), every...).Err()
			}
			if err != nil {
				t.Fatalf("lose the line: %v", err)
			}
			stand()
		},
	}
}

func TestStore_IsALine(t *testing.T) { storetest.Line(t, open) }
