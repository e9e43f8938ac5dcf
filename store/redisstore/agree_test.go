package redisstore

import (
	"crypto/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/memstore"
	"foyer/store/storetest"
)

func TestStore_AgreesWithMemoryAndOracle(t *testing.T) {
	server := services.PrivateRedis(t)
	storetest.Agree(t, func(walker int) storetest.Stores { return threeStores(t, server, walker) })
}

// threeStores are the stores that must agree. Their Redis is a private one, which ends with the test, and the database is
// one walker's own: a walk leaves its keys behind, and begins by removing all that are there.
func threeStores(t *testing.T, server *services.RedisServer, database int) storetest.Stores {
	client := patient(t, strings.TrimSuffix(server.URL(), "0")+strconv.Itoa(database))
	return storetest.Stores{
		"memory": func(*testing.T) storetest.Gate {
			return standing(func(now func() time.Time) admission.Store {
				return memstore.New(memstore.Settings{Gate: "final", Now: now})
			})
		},
		"oracle": func(*testing.T) storetest.Gate {
			return standing(func(now func() time.Time) admission.Store { return storetest.NewOracle(now) })
		},
		"redis": func(t *testing.T) storetest.Gate {
			if err := client.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			return openWith(t, client, rand.Text())
		},
	}
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
