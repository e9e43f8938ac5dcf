package redisstore

import (
	"crypto/rand"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/store/memstore"
	"foyer/store/storetest"
)

func TestStore_AgreesWithMemory(t *testing.T) {
	url, prefix := services.Redis(t)
	storetest.Agree(t, 100, 200, storetest.Stores{
		"memory": func(*testing.T) storetest.Gate {
			now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
			return storetest.Gate{
				Store:   memstore.New(memstore.Settings{Gate: "final", Now: func() time.Time { return now }}),
				Advance: func(d time.Duration) { now = now.Add(d) },
			}
		},
		"redis": func(t *testing.T) storetest.Gate { return openAt(t, url, prefix+rand.Text()) },
	})
}
