package redisstore

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// TestStore_ManyExpireAtOnceAndNobodyWaits has 5,000 leases run out, and 50,000 tickets fall silent and be forgotten, in
// the same second, while others join, poll, claim and leave over a client that gives up after a quarter of a second.
func TestStore_ManyExpireAtOnceAndNobodyWaits(t *testing.T) {
	const leases, tickets, chunk = 5_000, 50_000, 500
	server := services.PrivateRedis(t)
	setup := openWith(t, patient(t, server.URL()), "")
	rules := storetest.Rules()
	rules.Capacity, rules.QueueMax, rules.Keep = leases, 2*tickets, 2*time.Second
	if _, err := setup.Store.Begin(t.Context(), "one", rules); err != nil {
		t.Fatal(err)
	}
	for range (leases + tickets) / chunk {
		if _, err := setup.Store.Join(t.Context(), admission.Join{N: chunk}); err != nil {
			t.Fatal(err)
		}
	}
	setup.Advance(rules.Claim)
	client, err := Dial(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	store := New(Settings{Client: client, Gate: "final"})
	var took []time.Duration
	repeated := 0
	timed := func(what string, call func() error) {
		started := time.Now()
		err := call()
		for range 2 { // as a replica repeats it, whose process may have waited for the CPU
			if err != nil {
				repeated++
				err = call()
			}
		}
		if err != nil {
			t.Fatalf("%s while leases run out: %v", what, err)
		}
		took = append(took, time.Since(started))
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
	if inside, waiting := len(seen.Slots), seen.Waiting.Count(); inside > 10 || waiting > 10 || seen.Base < leases {
		t.Errorf("%d slots are left, %d wait, from %d on", inside, waiting, seen.Base)
	}
	if 100*repeated > len(took) {
		t.Errorf("%d of %d calls took longer than the client waits", repeated, len(took))
	}
	slices.Sort(took)
	t.Logf("p50 %v, p99 %v, longest %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}

func oneOf(t admission.Ticket) (b admission.Bitmap) {
	b.Base = t / 64 * 64
	b.Set(t)
	return b
}
