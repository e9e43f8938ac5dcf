package redisstore

import (
	"crypto/rand"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/memstore"
	"foyer/store/storetest"
)

func TestStore_AgreesWithMemoryAndOracle(t *testing.T) {
	url, prefix := services.Redis(t)
	storetest.Agree(t, storetest.Stores{
		"memory": func(*testing.T) storetest.Gate {
			return standing(func(now func() time.Time) admission.Store {
				return memstore.New(memstore.Settings{Gate: "final", Now: now})
			})
		},
		"oracle": func(*testing.T) storetest.Gate {
			return standing(func(now func() time.Time) admission.Store { return storetest.NewOracle(now) })
		},
		"redis": func(t *testing.T) storetest.Gate { return openAt(t, url, prefix+rand.Text()) },
	})
}

// standing is a gate in this process, whose clock stands until it is advanced.
func standing(fresh func(now func() time.Time) admission.Store) storetest.Gate {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	current := &struct{ admission.Store }{fresh(clock)}
	return storetest.Gate{
		Store:   current,
		Advance: func(d time.Duration) { now = now.Add(d) },
		Lose:    func() { current.Store = fresh(clock) },
	}
}
