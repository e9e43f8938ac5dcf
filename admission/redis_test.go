package admission_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/redisstore"
)

// quick are rules for tests in real time.
func quick(capacity int) admission.Rules {
	return admission.Rules{
		Capacity: capacity, Mode: admission.ModeOn,
		Idle: 2 * time.Second, Max: time.Minute, Claim: time.Second,
		QueueMax: 10_000, Keep: time.Minute, Returns: 2,
		PollMin: 100 * time.Millisecond, PollMax: 400 * time.Millisecond, Leeway: 250 * time.Millisecond,
	}
}

// onRedis runs replicas of one gate on a Redis server, each with its own connections.
func onRedis(t *testing.T, url, prefix string, rules admission.Rules, replicas int) *gate {
	t.Helper()
	keys, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), admission.MinSecret)})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, keys: keys, store: &faulty{}}
	for range replicas {
		client, err := redisstore.Dial(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		store := redisstore.New(redisstore.Settings{Client: client, Prefix: prefix, Gate: "final"})
		g.add(admission.RoomSettings{Rules: rules, Store: store})
	}
	t.Cleanup(g.close)
	return g
}

// crowd is many visitors who come, wait, stay a while and leave, counted while they are inside.
type crowd struct {
	g      *gate
	stay   time.Duration
	served atomic.Int64
	wg     sync.WaitGroup

	mu           sync.Mutex
	inside, peak int
	order        []admission.Ticket // in which they got in
}

// come lets one visitor through, which asks replicas at random. One that vanishes asks only so often.
func (c *crowd) come(ctx context.Context, asks int) {
	v := &visitor{g: c.g}
	for n := 0; ctx.Err() == nil && (asks == 0 || n < asks); n++ {
		v.room = c.g.rooms[rand.IntN(len(c.g.rooms))]
		got := v.visit()
		if got.Outcome != admission.Admit {
			after(ctx, min(max(got.Status.PollAfter, 50*time.Millisecond), time.Second))
			continue
		}
		c.enter(got.Ticket, 1)
		if asks == 0 {
			after(ctx, c.stay)
		}
		c.enter(got.Ticket, -1)
		if asks == 0 {
			c.served.Add(1)
			v.leave()
		}
		return
	}
}

// enter counts who comes in, and with -1 who goes out.
func (c *crowd) enter(t admission.Ticket, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside += by
	c.peak = max(c.peak, c.inside)
	if by > 0 {
		c.order = append(c.order, t)
	}
}

// after waits, but not longer than the context lasts.
func after(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func TestRedis_NeverMoreThanCapacityOverTwoReplicas(t *testing.T) {
	t.Parallel()
	url, prefix := services.Redis(t)
	g := onRedis(t, url, prefix, quick(20), 2)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := &crowd{g: g, stay: 50 * time.Millisecond}
	for i := range 300 {
		asks := 0
		if i%3 == 0 {
			asks = 2 // vanishes
		}
		c.wg.Go(func() { c.come(ctx, asks) })
	}
	c.wg.Wait()
	if c.served.Load() != 200 {
		t.Errorf("%d of 200 were served", c.served.Load())
	}
	if c.peak > 20 {
		t.Errorf("%d were inside at once", c.peak)
	}
}

func TestRedis_KilledAndEmptyLosesNobody(t *testing.T) {
	t.Parallel()
	server := services.PrivateRedis(t)
	rules := quick(5)
	g := onRedis(t, server.URL(), "", rules, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := &crowd{g: g, stay: 700 * time.Millisecond}
	for range 30 {
		c.wg.Go(func() { c.come(ctx, 0) })
	}
	until(t, func() bool { return c.served.Load() >= 5 && g.rooms[0].Info().Tail == 30 })
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return g.rooms[0].Info().Store == "down" && g.rooms[1].Info().Store == "down" })
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	c.wg.Wait()
	if c.served.Load() != 30 {
		t.Errorf("%d of 30 were served", c.served.Load())
	}
	if c.peak > 5 {
		t.Errorf("%d were inside at once", c.peak)
	}
	if first := slices.Max(c.order); first > 1000 {
		t.Errorf("somebody lost its place and got in with ticket %d", first)
	}
	late := g.visitor()
	until(t, func() bool { return late.visit().Outcome == admission.Admit })
}

func TestRedis_FrozenHoldsTheLine(t *testing.T) {
	t.Parallel()
	server := services.PrivateRedis(t)
	g := onRedis(t, server.URL(), "", quick(3), 2)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := &crowd{g: g, stay: 300 * time.Millisecond}
	for range 30 {
		c.wg.Go(func() { c.come(ctx, 0) })
	}
	until(t, func() bool { return c.served.Load() >= 5 })
	frozen := time.Now()
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return g.rooms[0].Info().Store == "down" && g.rooms[1].Info().Store == "down" })
	var took []time.Duration
	for range 21 {
		start := time.Now()
		g.visitor().visit()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	until(t, func() bool { return time.Since(frozen) > 2*quick(3).Idle })
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	c.wg.Wait()
	if took[10] > 100*time.Millisecond { // the middle one: on a busy machine some may wait, though not on the store
		t.Errorf("requests waited on the frozen store: %v", took)
	}
	if c.served.Load() != 30 || c.peak > 3 {
		t.Errorf("%d of 30 were served, %d were inside at once", c.served.Load(), c.peak)
	}
}

// until waits for a condition, for at most half a minute.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for start := time.Now(); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("the condition has not come about in half a minute")
		}
	}
}

func TestRedis_ReplicasFiveMinutesOffKeepKAndEndNobodyEarly(t *testing.T) {
	t.Parallel()
	url, prefix := services.Redis(t)
	rules := quick(2)
	g := onRedis(t, url, prefix, rules, 0)
	for _, off := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		client, err := redisstore.Dial(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		g.add(admission.RoomSettings{
			Rules: rules, Store: redisstore.New(redisstore.Settings{Client: client, Prefix: prefix, Gate: "final"}),
			Now: func() time.Time { return time.Now().Add(off) },
		})
	}
	inside := make([]*visitor, 2)
	for i := range inside {
		inside[i] = g.visitor()
		until(t, func() bool { return inside[i].visit().Outcome == admission.Admit })
	}
	waits, early := g.visitor(), 0
	for i, start := 0, time.Now(); time.Since(start) < 3*rules.Idle; i++ {
		for j, v := range inside {
			v.room = g.rooms[(i+j)%2]
			if v.visit().Outcome != admission.Admit {
				early++
			}
		}
		waits.room = g.rooms[i%2]
		if waits.visit().Outcome == admission.Admit {
			t.Fatal("a third is in a gate of two")
		}
		after(t.Context(), 150*time.Millisecond)
	}
	if early > 0 {
		t.Errorf("%d times somebody active was put out", early)
	}
}
