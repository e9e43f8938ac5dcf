package admission_test

import (
	"cmp"
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

// throng is a gate's replicas on a Redis of their own in real time, with some inside who go on asking and many who wait
// and poll as told. With every look it counts whom the replicas let in.
type throng struct {
	*gate
	rules   admission.Rules
	server  *services.RedisServer
	links   []*faulty     // of the replicas, in their order
	in, out []*guest      // out in the order of their tickets
	held    time.Duration // the longest that the test itself was held up between two looks
}

// guest is a visitor of a throng.
type guest struct {
	visitor
	ticket admission.Ticket
	shown  int  // position
	stays  bool // with one replica
	next   time.Time
}

// patientRules are those of a throng that a busy machine may hold up for a few seconds.
func patientRules(capacity int, idle time.Duration) admission.Rules {
	r := quick(capacity)
	r.Idle, r.Max, r.Claim, r.Leeway = idle, 10*time.Minute, 6*time.Second, 2*time.Second
	r.PollMin, r.PollMax, r.Keep = 3*time.Second, 5*time.Second, time.Hour
	return r
}

func newThrong(t *testing.T, rules admission.Rules, replicas int, arguments ...string) *throng {
	server := services.PrivateRedis(t, arguments...)
	c := &throng{gate: onRedis(t, server.URL(), "", rules, 0), rules: rules, server: server}
	for range replicas {
		c.replica()
	}
	return c
}

// replica starts one more, which knows nothing.
func (c *throng) replica() {
	c.links = append(c.links, newFaulty(c.lineOn(c.server)))
	c.add(admission.RoomSettings{Rules: c.rules, Store: c.links[len(c.links)-1]})
}

// lineOn is the line in a server, over a connection of its own.
func (c *throng) lineOn(server *services.RedisServer) admission.Store {
	client, err := redisstore.Dial(server.URL())
	c.ok(err)
	c.t.Cleanup(func() { _ = client.Close() })
	return redisstore.New(redisstore.Settings{Client: client, Gate: "final"})
}

// command gives a server a command.
func (c *throng) command(server *services.RedisServer, words ...any) {
	c.t.Helper()
	c.ok(services.RedisClient(c.t, server.URL(), nil).Do(context.Background(), words...).Err())
}

// replication is what a server says of its replication.
func (c *throng) replication(server *services.RedisServer) string {
	info, err := services.RedisClient(c.t, server.URL(), nil).Info(context.Background(), "replication").Result()
	c.ok(err)
	return info
}

// join lets so many come at once, while everybody else goes on, and answers with them in the order of their tickets.
func (c *throng) join(n int) []*guest {
	joined := make([]*guest, n)
	var wg sync.WaitGroup
	for i := range joined {
		one := &guest{visitor: visitor{g: c.gate, room: c.rooms[i%len(c.rooms)]}}
		joined[i] = one
		wg.Go(func() {
			until(c.t, func() bool { one.ticket = one.visit().Ticket; return one.ticket != 0 })
		})
	}
	var done atomic.Bool
	go func() { wg.Wait(); done.Store(true) }()
	c.drive(done.Load)
	slices.SortFunc(joined, func(a, b *guest) int { return cmp.Compare(a.ticket, b.ticket) })
	return joined
}

// drive goes on until a condition holds: those inside ask for pages, those who wait poll as told, each at any of the
// replicas, and whoever is offered a slot takes it. Nobody too many may be inside, and nobody who waits may lose a place.
func (c *throng) drive(condition func() bool) {
	c.t.Helper()
	looked := time.Now()
	for start := looked; !condition(); after(c.t.Context(), 50*time.Millisecond) {
		c.held, looked = max(c.held, time.Since(looked)), time.Now()
		for _, room := range c.rooms {
			c.held = max(c.held, time.Since(room.Info().AsOf))
		}
		if time.Since(start) > time.Minute {
			c.t.Fatal("the condition has not come about in a minute")
		}
		for _, v := range c.in {
			if v.due() {
				if !v.stays {
					v.room = c.rooms[rand.IntN(len(c.rooms))]
				}
				v.visit()
				v.next = time.Now().Add(c.rules.Idle / 12)
			}
		}
		c.out = slices.DeleteFunc(c.out, func(v *guest) bool { return v.due() && c.ask(v) })
		c.count()
	}
}

// due reports whether it is time for a guest to ask again.
func (v *guest) due() bool { return !time.Now().Before(v.next) }

// ask has somebody who waits poll; true where that has let him in.
func (c *throng) ask(v *guest) bool {
	v.room = c.rooms[rand.IntN(len(c.rooms))]
	got := v.poll()
	if got.Status.State == admission.StateOffered {
		got = v.visit()
	}
	v.next = time.Now().Add(min(got.Status.PollAfter, c.rules.PollMax))
	if got.Ticket != v.ticket || got.Status.State == admission.StateEnded {
		c.t.Fatalf("ticket %d has lost its place: %+v", v.ticket, got)
	}
	if got.Outcome == admission.Admit {
		c.in = append(c.in, v)
		return true
	}
	if v.shown > 0 && got.Status.Position > v.shown {
		c.t.Fatalf("ticket %d was shown position %d, then %d", v.ticket, v.shown, got.Status.Position)
	}
	v.shown = got.Status.Position
	return false
}

// count asks every replica whom of those inside it would let in as things are.
func (c *throng) count() {
	c.t.Helper()
	in := 0
	for _, v := range c.in {
		if c.lets(v) {
			in++
		}
	}
	if in > c.rules.Capacity {
		c.t.Fatalf("%d are let in at once in a gate of %d", in, c.rules.Capacity)
	}
}

// lets reports whether any replica would let a guest in as things are.
func (c *throng) lets(v *guest) bool {
	return slices.ContainsFunc(c.rooms, func(room *admission.Room) bool {
		got, ok := room.Identify(v.tokens())
		return ok && got.Outcome == admission.Admit
	})
}

// pass lets a time pass.
func (c *throng) pass(d time.Duration) {
	c.t.Helper()
	end := time.Now().Add(d)
	c.drive(func() bool { return time.Now().After(end) })
}

// gives reports whether every replica has heard from the line, which gives slots.
func (c *throng) gives() bool {
	for _, room := range c.rooms {
		if info := room.Info(); info.Store != "ok" || info.AsOf.Before(info.GivesAt) {
			return false
		}
	}
	return true
}

// waiting is how many wait, when all replicas have heard from the line and say the same; else -1.
func (c *throng) waiting() (n int) {
	for i, room := range c.rooms {
		info := room.Info()
		if info.Store != "ok" || i > 0 && info.Waiting != n {
			return -1
		}
		n = info.Waiting
	}
	return n
}

// ok ends the test where something did not work.
func (c *throng) ok(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// moves has all leave who are inside, and wants the first of the line to follow them, and nobody else. Where the machine
// holds the test up for longer than a guest may be late, whoever was silent is passed over, as he should be.
func (c *throng) moves() {
	c.t.Helper()
	c.held = 0
	c.pass(c.rules.PollMax + time.Second) // everybody has been heard
	next := slices.Clone(c.out[:c.rules.Capacity])
	gone := c.in
	c.in = nil
	for _, v := range gone {
		v.room.Leave(context.Background(), v.tokens())
	}
	c.drive(func() bool { return len(c.in) >= c.rules.Capacity })
	late := c.rules.NearWindow() - c.rules.PollMin*115/100 // with the jitter of an interval
	for _, v := range c.in {
		if !slices.Contains(next, v) && c.held < late/2 {
			c.t.Errorf("ticket %d is in before one of the first in line, %d to %d", v.ticket, next[0].ticket, next[len(next)-1].ticket)
		}
	}
	for _, v := range gone {
		if c.lets(v) {
			c.t.Errorf("ticket %d has left and is let in", v.ticket)
		}
	}
}
