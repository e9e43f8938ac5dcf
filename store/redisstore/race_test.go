package redisstore

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// replica is one of several that share a gate: it syncs every 20 ms with whom it has heard.
type replica struct {
	store  *Store
	mu     sync.Mutex
	polled admission.Bitmap
}

func (r *replica) poll(t admission.Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.polled.Set(t)
}

func (r *replica) run(ctx context.Context, name string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		r.mu.Lock()
		polled := r.polled
		r.polled = admission.Bitmap{}
		r.mu.Unlock()
		if _, err := r.store.Sync(ctx, admission.Sync{Replica: name, Near: polled}); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func TestStore_NeverMoreThanKOverSeveralReplicas(t *testing.T) {
	const capacity, visitors = 5, 40
	url, prefix := services.Redis(t)
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	rules := storetest.Rules()
	rules.Capacity, rules.Max, rules.Idle, rules.Claim = capacity, time.Minute, time.Minute, 10*time.Second
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	var replicas [3]replica
	var running, buying sync.WaitGroup
	for i := range replicas {
		client := redis.NewClient(options)
		defer client.Close()
		replicas[i].store = New(Settings{Client: client, Prefix: prefix, Gate: "final"})
		if _, err := replicas[i].store.Begin(ctx, "one", rules); err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := replicas[i].run(ctx, strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
	}
	var inside, most, bought atomic.Int64
	for i := range visitors {
		buying.Go(func() {
			if buy(ctx, t, &replicas[i%len(replicas)], strconv.Itoa(i), &inside, &most) {
				bought.Add(1)
			}
		})
	}
	buying.Wait()
	stop()
	running.Wait()
	if most.Load() > capacity || bought.Load() != visitors {
		t.Fatalf("%d inside at most, %d bought; want at most %d, and %d", most.Load(), bought.Load(), capacity, visitors)
	}
}

// buy is one visitor: joins, polls until inside, and leaves.
func buy(ctx context.Context, t *testing.T, r *replica, id string, inside, most *atomic.Int64) bool {
	joined, err := r.store.Join(ctx, admission.Join{ID: id, N: 1})
	if err != nil {
		t.Error(err)
		return false
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		claimed, err := r.store.Claim(ctx, admission.Seen{}, joined.First)
		if err != nil {
			t.Error(err)
			return false
		}
		if claimed.Slot.Kind == admission.Lease {
			break
		}
		r.poll(joined.First)
		<-ticker.C
	}
	now := inside.Add(1)
	for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
	}
	<-ticker.C
	inside.Add(-1)
	if _, err := r.store.Release(ctx, admission.Seen{}, joined.First); err != nil {
		t.Error(err)
		return false
	}
	return true
}
