package strategy_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/strategy"
)

// TestAtomicRedis_SellsTheCapacityWhateverHappensToRedis has Redis killed, emptied, and set back to an old dump in mid-sale:
// what is sold is the capacity, and then the counter is what remains. It tells how long nobody could buy.
func TestAtomicRedis_SellsTheCapacityWhateverHappensToRedis(t *testing.T) {
	for _, c := range []struct {
		name   string
		strike func(t *testing.T, server *services.RedisServer, client *redis.Client, dump map[string]string)
	}{
		{"killed", func(t *testing.T, server *services.RedisServer, _ *redis.Client, _ map[string]string) {
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
			if err := server.Restart(); err != nil {
				t.Error(err)
			}
		}},
		{"flushed", func(t *testing.T, _ *services.RedisServer, client *redis.Client, _ map[string]string) {
			if err := client.FlushAll(t.Context()).Err(); err != nil {
				t.Error(err)
			}
		}},
		{"restored from an old dump", func(t *testing.T, _ *services.RedisServer, client *redis.Client, dump map[string]string) {
			for key, value := range dump {
				if err := client.RestoreReplace(t.Context(), key, 0, value).Err(); err != nil {
					t.Error(err)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := services.PrivateRedis(t)
			client := connectRedis(t, server.URL())
			const capacity = 500
			s, _, _ := newSale(t, capacity, strategy.Settings{Redis: client, Prefix: "p:", Grace: time.Millisecond})
			dump := map[string]string{}
			sale := &midSale{sale: s.Strategy, capacity: capacity}
			sale.sell(t, 50)
			for _, key := range keysOf(t, client, "p:") {
				dump[key] = client.Dump(t.Context(), key).Val()
			}
			struck := make(chan struct{})
			go func() {
				defer close(struck)
				for sale.sold.Load() < capacity/2 {
					time.Sleep(time.Millisecond)
				}
				c.strike(t, server, client, dump)
			}()
			sale.sell(t, 2000)
			<-struck
			for range 100 { // what a mended counter shows is left is sold too
				reconcile(t, s)
				if sale.sell(t, 10); sale.sold.Load() >= capacity {
					break
				}
			}
			t.Logf("sold %d of %d; the longest pause between two sales was %v", sale.sold.Load(), capacity, sale.longest.Round(time.Millisecond))
			if sale.sold.Load() != capacity {
				t.Errorf("sold %d of %d", sale.sold.Load(), capacity)
			}
			for reconcile(t, s).DriftAfter != 0 {
			}
			wantEven(t, s, capacity)
		})
	}
}

// midSale is a sale, with the longest pause in it.
type midSale struct {
	sale     origin.Strategy
	capacity int64
	tried    atomic.Int64
	sold     atomic.Int64

	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

// sell lets buyers ask, 16 at once.
func (m *midSale) sell(t *testing.T, buyers int64) {
	t.Helper()
	var wg sync.WaitGroup
	until := m.tried.Load() + buyers
	m.last = time.Time{}
	for range 16 {
		wg.Go(func() {
			for i := m.tried.Add(1); i <= until; i = m.tried.Add(1) {
				reply, err := m.sale.Hold(t.Context(), ask(fmt.Sprint("h", i)))
				if err != nil {
					t.Error(err)
				} else if reply.Refusal == origin.NotRefused {
					m.note()
				}
			}
		})
	}
	wg.Wait()
	m.tried.Store(until)
}

func (m *midSale) note() {
	m.sold.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if !m.last.IsZero() {
		m.longest = max(m.longest, now.Sub(m.last))
	}
	m.last = now
}
