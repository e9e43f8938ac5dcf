package storetest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"foyer/admission"
)

// Gate is a fresh gate of the store under test, in which nothing has begun, with a clock that stands until advanced.
type Gate struct {
	Store   admission.Store
	Advance func(time.Duration)
	Lose    func() // has the store forget everything, as if it had been emptied or restarted
}

// Rules are those of the tests: capacity 2, claim 1 s, idle 2 s, max 10 s, polls of 200 ms to 2 s.
func Rules() admission.Rules {
	return admission.Rules{
		Capacity: 2, Mode: admission.ModeOn,
		Idle: 2 * time.Second, Max: 10 * time.Second, Claim: time.Second,
		QueueMax: 1000, Keep: time.Minute, Returns: 2,
		PollMin: 200 * time.Millisecond, PollMax: 2 * time.Second,
		Leeway: 250 * time.Millisecond,
	}
}

// Line runs the suite of admission.Store.
func Line(t *testing.T, open func(t *testing.T) Gate) {
	groups := []map[string]func(*gate){joins, offers, misses, leases, rounds, stocks, losses, restores, kills, crowds}
	for _, group := range groups {
		for _, name := range sortedKeys(group) {
			t.Run(name, func(t *testing.T) {
				group[name](&gate{T: t, Gate: open(t), replica: "r1", since: map[string]uint64{}})
			})
		}
	}
}

// gate is a gate under test; its methods fail the test where a verb errs.
type gate struct {
	*testing.T
	Gate
	replica string
	since   map[string]uint64
	joins   int
}

// begun starts the round "one" with the rules given.
func (g *gate) begun(change func(*admission.Rules)) admission.Standing {
	rules := Rules()
	if change != nil {
		change(&rules)
	}
	standing, err := g.Store.Begin(g.Context(), "one", rules)
	return must(g, standing, err)
}

func (g *gate) join(n int) admission.Joined {
	g.joins++
	return g.joinAs(admission.Join{ID: "join-" + strconv.Itoa(g.joins), N: n})
}

func (g *gate) joinAs(join admission.Join) admission.Joined {
	joined, err := g.Store.Join(g.Context(), join)
	return must(g, joined, err)
}

// sync is a tick in which the tickets given have polled, told the short interval.
func (g *gate) sync(polled ...admission.Ticket) admission.Snapshot {
	return g.syncAs(admission.Sync{Near: set(polled...)})
}

func (g *gate) syncAs(sync admission.Sync) admission.Snapshot {
	sync.Replica, sync.Since = g.replica, g.since[g.replica]
	snapshot, err := g.Store.Sync(g.Context(), sync)
	must(g, snapshot, err)
	g.since[g.replica] = snapshot.Seq
	if inside := len(snapshot.Slots); inside > snapshot.Rules.Capacity {
		g.Fatalf("%d slots in a gate of %d", inside, snapshot.Rules.Capacity)
	}
	return snapshot
}

func (g *gate) claim(t admission.Ticket) admission.Slot {
	claimed, err := g.Store.Claim(g.Context(), admission.Seen{}, t)
	return must(g, claimed, err).Slot
}

func (g *gate) renew(t admission.Ticket, until time.Time) admission.Slot {
	claimed, err := g.Store.Renew(g.Context(), admission.Seen{}, t, until)
	return must(g, claimed, err).Slot
}

func (g *gate) release(t admission.Ticket) admission.Standing {
	standing, err := g.Store.Release(g.Context(), admission.Seen{}, t)
	return must(g, standing, err)
}

// now is the store's time.
func (g *gate) now() time.Time { return g.release(0).Now }

// pass lets so much time go by, with a tick every 100 ms in which the tickets given have polled.
func (g *gate) pass(d time.Duration, polled ...admission.Ticket) (snapshot admission.Snapshot) {
	for range d / admission.Tick {
		g.Advance(admission.Tick)
		snapshot = g.sync(polled...)
	}
	return snapshot
}

func must[R any](g *gate, reply R, err error) R {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
	return reply
}

// set makes a bitmap of tickets.
func set(tickets ...admission.Ticket) admission.Bitmap {
	var b admission.Bitmap
	for _, t := range tickets {
		b.Set(t)
	}
	return b
}

// run is the tickets from first to last.
func run(first, last admission.Ticket) (tickets []admission.Ticket) {
	for t := first; t <= last; t++ {
		tickets = append(tickets, t)
	}
	return tickets
}

// members are the tickets in a bitmap, ascending.
func members(b admission.Bitmap) (tickets []admission.Ticket) {
	for t, ok := b.Next(0); ok; t, ok = b.Next(t + 1) {
		tickets = append(tickets, t)
	}
	return tickets
}

// holders are the tickets with a slot of a kind, ascending.
func holders(snapshot admission.Snapshot, kind admission.Kind) (tickets []admission.Ticket) {
	for _, slot := range snapshot.Slots {
		if slot.Kind == kind {
			tickets = append(tickets, slot.Ticket)
		}
	}
	return tickets
}

func (g *gate) wantTickets(what string, got []admission.Ticket, want ...admission.Ticket) {
	g.Helper()
	if !slices.Equal(got, want) {
		g.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (g *gate) wantSlot(slot admission.Slot, kind admission.Kind, ends time.Time) {
	g.Helper()
	if slot.Kind != kind || kind != admission.NoSlot && !slot.Expires.Equal(ends) {
		g.Fatalf("slot %+v, want kind %d until %v", slot, kind, ends)
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
