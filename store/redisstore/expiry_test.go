package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// TestStore_ManyExpireAtOnceAndNobodyWaits has 10,000 leases run out, and 50,000 tickets fall silent and be forgotten, in
// the same second, while others join, poll, claim and leave. No call may take the server as long as a script of 100,000
// plain commands, in its own CPU time: on a busy machine both wait for the CPU.
func TestStore_ManyExpireAtOnceAndNobodyWaits(t *testing.T) {
	const leases, tickets, chunk = 10_000, 50_000, 500
	client := patient(t, services.PrivateRedis(t).URL())
	setup := openWith(t, client, "")
	store := setup.Store
	rules := storetest.Rules()
	rules.Capacity, rules.QueueMax, rules.Keep = leases, 2*tickets, 2*time.Second
	if _, err := store.Begin(t.Context(), "one", rules); err != nil {
		t.Fatal(err)
	}
	for range (leases + tickets) / chunk {
		if _, err := store.Join(t.Context(), admission.Join{N: chunk}); err != nil {
			t.Fatal(err)
		}
	}
	setup.Advance(rules.Claim)
	long := serverTime(t, client, "run plain commands", plain(t, client))
	var took []time.Duration
	timed := func(what string, call func() error) {
		took = append(took, serverTime(t, client, what, call))
	}
	var seen admission.Snapshot
	for tick := range 120 { // all windows end
		var joined admission.Joined
		timed("join", func() (err error) {
			joined, err = store.Join(t.Context(), admission.Join{ID: strconv.Itoa(tick), N: 1})
			return err
		})
		timed("sync", func() (err error) {
			seen, err = store.Sync(t.Context(), admission.Sync{Replica: "r1", Near: oneOf(joined.First), Since: seen.Seq})
			return err
		})
		timed("claim", func() error { _, err := store.Claim(t.Context(), admission.Seen{}, joined.First); return err })
		timed("release", func() error { _, err := store.Release(t.Context(), admission.Seen{}, joined.First); return err })
		setup.Advance(admission.Tick)
	}
	long = max(long, serverTime(t, client, "run plain commands", plain(t, client)))
	if inside, waiting := len(seen.Slots), seen.Waiting.Count(); inside > 10 || waiting > 10 || seen.Base < leases {
		t.Errorf("%d slots are left, %d wait, from %d on", inside, waiting, seen.Base)
	}
	slices.Sort(took)
	longest := took[len(took)-1]
	if longest >= long {
		t.Errorf("a call took the server %v, 100,000 plain commands take it %v", longest, long)
	}
	t.Logf("of the server: p50 %v, p99 %v, longest %v of %v", took[len(took)/2], took[len(took)*99/100], longest, long)
}

// plain is a call of a script of 100,000 commands like those of the line.
func plain(t *testing.T, client *redis.Client) func() error {
	const source = `
		for i = 1, 100000 do redis.call('HSET', KEYS[1], i % 10000, '2 1 1796000000000 1796000000000') end
		return redis.call('DEL', KEYS[1])`
	return func() error { return client.Eval(t.Context(), source, []string{"plain"}).Err() }
}

// serverTime is how long a call keeps the CPU of a server that nobody else calls.
func serverTime(t *testing.T, client *redis.Client, what string, call func() error) time.Duration {
	t.Helper()
	used := func() time.Duration {
		info, err := client.Info(t.Context(), "cpu").Result()
		if err != nil {
			t.Fatal(err)
		}
		var seconds [2]float64
		for i, name := range []string{"used_cpu_sys:", "used_cpu_user:"} {
			_, rest, _ := strings.Cut(info, name)
			if _, err := fmt.Sscan(rest, &seconds[i]); err != nil {
				t.Fatalf("%s %v", name, err)
			}
		}
		return time.Duration((seconds[0] + seconds[1]) * float64(time.Second))
	}
	before := used()
	if err := call(); err != nil {
		t.Fatalf("%s while leases run out: %v", what, err)
	}
	return used() - before
}

func oneOf(t admission.Ticket) (b admission.Bitmap) {
	b.Base = t / 64 * 64
	b.Set(t)
	return b
}
