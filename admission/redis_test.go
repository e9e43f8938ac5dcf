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

// crowd is many visitors who come, wait, stay a while and leave.
type crowd struct {
	g              *gate
	stay           time.Duration
	joined, served atomic.Int64
	wg             sync.WaitGroup

	mu    sync.Mutex
	stays []stay // of those who have left
}

// stay is a visitor's time inside.
type stay struct {
	ticket   admission.Ticket
	from, to time.Time
}

// come lets one visitor through, which asks replicas at random. One that vanishes asks only so often.
func (c *crowd) come(ctx context.Context, asks int) {
	v, joined := &visitor{g: c.g}, false
	for n := 0; ctx.Err() == nil && (asks == 0 || n < asks); n++ {
		v.room = c.g.rooms[rand.IntN(len(c.g.rooms))]
		got := v.visit()
		if !joined && got.Ticket != 0 {
			joined = true
			c.joined.Add(1)
		}
		if got.Outcome != admission.Admit {
			after(ctx, min(max(got.Status.PollAfter, 50*time.Millisecond), time.Second))
			continue
		}
		from := time.Now()
		if asks == 0 {
			after(ctx, c.stay)
		}
		c.was(got, from)
		if asks == 0 {
			c.served.Add(1)
			v.leave()
		}
		return
	}
}

// was counts somebody who leaves now. Whose pass has run out meanwhile, since the machine was busy, was inside until then.
func (c *crowd) was(got admission.Verdict, from time.Time) {
	to := time.Now()
	if end := got.Status.SessionExpires; end.Before(to) {
		to = end
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stays = append(c.stays, stay{ticket: got.Ticket, from: from, to: to})
}

// peak is how many were inside at once.
func (c *crowd) peak() (most int) {
	for _, one := range c.stays { // the most are in when somebody comes in
		inside := 0
		for _, other := range c.stays {
			if !one.from.Before(other.from) && !one.from.After(other.to) {
				inside++
			}
		}
		most = max(most, inside)
	}
	return most
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
	if peak := c.peak(); peak > 20 {
		t.Errorf("%d were inside at once", peak)
	}
}

func TestRedis_KilledAndEmptyLosesNobody(t *testing.T) {
	t.Parallel()
	server := services.PrivateRedis(t)
	rules := quick(5)
	rules.Claim = 4 * time.Second // nobody is so late that he loses his ticket by it
	g := onRedis(t, server.URL(), "", rules, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := &crowd{g: g, stay: 700 * time.Millisecond}
	for range 30 {
		c.wg.Go(func() { c.come(ctx, 0) })
	}
	until(t, func() bool { return c.served.Load() >= 5 && c.joined.Load() == 30 && g.rooms[0].Info().Tail >= 30 })
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
	if peak := c.peak(); peak > 5 {
		t.Errorf("%d were inside at once", peak)
	}
	for _, one := range c.stays {
		if one.ticket > 1000 {
			t.Errorf("somebody lost its place and got in with ticket %d", one.ticket)
		}
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
	if peak := c.peak(); c.served.Load() != 30 || peak > 3 {
		t.Errorf("%d of 30 were served, %d were inside at once", c.served.Load(), peak)
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
	rules.Idle, rules.Claim = 6*time.Second, 4*time.Second
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
	inside := []*visitor{g.visitor(), g.visitor()}
	until(t, func() bool {
		return !slices.ContainsFunc(inside, func(v *visitor) bool { return v.visit().Outcome != admission.Admit })
	})
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
