package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/store/storetest"
)

// faulty is a gate in a server of the test's own, with the server's own clock.
type faulty struct {
	*testing.T
	*Store
	server *services.RedisServer
	client redis.UniversalClient
}

func newFaulty(t *testing.T, arguments ...string) faulty {
	server := services.PrivateRedis(t, arguments...)
	client := patient(t, server.URL())
	return faulty{T: t, Store: New(Settings{Client: client, Gate: "final"}), server: server, client: client}
}

// begun begins with three visitors, two of them inside, and returns what a replica has seen. Nothing runs out during a test.
func (f faulty) begun() admission.Snapshot {
	rules := storetest.Rules()
	rules.Idle, rules.Max, rules.Claim = time.Minute, 10*time.Minute, time.Minute
	rules.PollMin, rules.PollMax = time.Minute, time.Minute
	_, err := f.Begin(f.Context(), "one", rules)
	f.ok(err)
	_, err = f.Join(f.Context(), admission.Join{ID: "1", N: 3})
	f.ok(err)
	snapshot, err := f.Sync(f.Context(), admission.Sync{Replica: "r1"})
	f.ok(err)
	return snapshot
}

func (f faulty) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f faulty) wantLost(snapshot admission.Snapshot) {
	f.Helper()
	seen := admission.Seen{Run: snapshot.Run, Seq: snapshot.Seq}
	if _, err := f.Sync(f.Context(), admission.Sync{Seen: seen, Replica: "r1"}); !errors.Is(err, admission.ErrLost) {
		f.Fatalf("Sync: %v, want ErrLost", err)
	}
	if _, err := f.Join(f.Context(), admission.Join{Seen: seen, ID: "2", N: 1}); !errors.Is(err, admission.ErrLost) {
		f.Fatalf("Join: %v, want ErrLost", err)
	}
}

// restore puts in what the replica of that name has seen.
func (f faulty) restore(replica string, snapshot admission.Snapshot) admission.Snapshot {
	f.Helper()
	_, err := f.Restore(f.Context(), admission.Image{
		Seen:    admission.Seen{Run: snapshot.Run, Seq: snapshot.Seq},
		Replica: replica, AsOf: snapshot.Now, Round: snapshot.Round, File: snapshot.Rules, Rules: snapshot.Rules,
		Tail: snapshot.Tail, Spare: 100, Base: snapshot.Base, Waiting: snapshot.Waiting, Slots: snapshot.Slots,
		Ended: snapshot.Ended, Missed: snapshot.Missed, Admitted: snapshot.Admitted,
	})
	f.ok(err)
	snapshot, err = f.Sync(f.Context(), admission.Sync{Replica: replica})
	f.ok(err)
	return snapshot
}

func (f faulty) wantWhole(s admission.Snapshot) {
	f.Helper()
	if len(s.Slots) != 2 || s.Slots[0].Ticket != 1 || s.Slots[1].Ticket != 2 || !s.Waiting.Has(3) || s.Round != "one" {
		f.Fatalf("restored %+v", s)
	}
}

func TestStore_FlushedIsLostUntilRestored(t *testing.T) {
	f := newFaulty(t)
	snapshot := f.begun()
	f.ok(f.client.FlushAll(t.Context()).Err())
	f.wantLost(snapshot)
	restored := f.restore("r1", snapshot)
	f.wantWhole(restored)
	if restored.Tail != 103 || restored.Gives.IsZero() {
		t.Fatalf("restored %+v", restored)
	}
}

func TestStore_RestartedEmptyIsLostUntilRestored(t *testing.T) {
	f := newFaulty(t)
	snapshot := f.begun()
	f.ok(f.server.Kill())
	if _, err := f.Sync(t.Context(), admission.Sync{Replica: "r1"}); err == nil || errors.Is(err, admission.ErrLost) {
		t.Fatalf("Sync of a dead server: %v", err)
	}
	f.ok(f.server.Restart())
	f.wantLost(snapshot)
	restored := f.restore("r1", snapshot)
	f.wantWhole(restored)
	if restored.Run == snapshot.Run {
		t.Fatalf("the same incarnation %s", restored.Run)
	}
}

func TestStore_RestartedWithEverythingGoesOnWhenAllReplicasHaveReported(t *testing.T) {
	f := newFaulty(t, "--appendonly", "yes", "--appendfsync", "always")
	snapshot := f.begun()
	second, err := f.Sync(t.Context(), admission.Sync{Replica: "r2"})
	f.ok(err)
	f.ok(f.server.Kill())
	f.ok(f.server.Restart())
	f.wantLost(snapshot)
	if _, err := f.Begin(t.Context(), "two", storetest.Rules()); !errors.Is(err, admission.ErrLost) {
		t.Fatalf("Begin: %v, want ErrLost", err)
	}
	if waits := f.restore("r1", snapshot); waits.Gives.IsZero() {
		t.Fatalf("slots are given although r2 has not reported: %+v", waits)
	}
	restored := f.restore("r2", second)
	f.wantWhole(restored)
	if restored.Tail != 3 || !restored.Gives.IsZero() {
		t.Fatalf("nothing was lost, yet %+v", restored)
	}
}

func TestStore_RolledBackIsLostAndWaits(t *testing.T) {
	f := newFaulty(t, "--appendonly", "yes", "--appendfsync", "always")
	snapshot := f.begun()
	f.ok(f.server.Kill())
	f.ok(f.server.Restart())
	snapshot.Seq += 5 // the last steps did not reach the disk
	snapshot.Tail += 2
	f.wantLost(snapshot)
	restored := f.restore("r1", snapshot)
	f.wantWhole(restored)
	if restored.Tail != 105 || restored.Gives.IsZero() {
		t.Fatalf("restored %+v", restored)
	}
}

// TestStore_FrozenAnswersSoonThatItDoesNot has a client as Dial makes it give up again and again while a patient one waits
// for the same answer.
func TestStore_FrozenAnswersSoonThatItDoesNot(t *testing.T) {
	f := newFaulty(t)
	f.begun()
	client, err := Dial(f.server.URL())
	f.ok(err)
	defer client.Close()
	hasty := faulty{T: t, Store: New(Settings{Client: client, Gate: "final"})}
	hasty.answers() // it is connected
	f.ok(f.server.Freeze())
	var waits atomic.Bool
	waits.Store(true)
	go func() {
		defer waits.Store(false)
		_, _ = f.Sync(t.Context(), admission.Sync{Replica: "r1"})
	}()
	gaveUp := 0
	for ; waits.Load(); gaveUp++ {
		if _, err := hasty.Sync(t.Context(), admission.Sync{Replica: "r1"}); err == nil || errors.Is(err, admission.ErrLost) {
			t.Fatalf("Sync of a frozen server: %v", err)
		}
	}
	f.ok(f.server.Thaw())
	if gaveUp < 3 {
		t.Errorf("it gave up %d times while a patient client waited", gaveUp)
	}
	if snapshot := hasty.answers(); snapshot.Tail != 3 {
		t.Fatalf("snapshot %+v", snapshot)
	}
}

// answers waits until a Sync is answered.
func (f faulty) answers() admission.Snapshot {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if snapshot, err := f.Sync(ctx, admission.Sync{Replica: "r1"}); err == nil {
			return snapshot
		}
	}
	f.Fatal("no answer within 30 s")
	return admission.Snapshot{}
}

func TestStore_FullStopsJoinsAndNothingElse(t *testing.T) {
	f := newFaulty(t)
	f.begun()
	_, err := f.Join(t.Context(), admission.Join{ID: "many", N: 900})
	f.ok(err)
	snapshot, err := f.Sync(t.Context(), admission.Sync{Replica: "r1"})
	f.ok(err)
	f.ok(f.client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	if _, err := f.Join(t.Context(), admission.Join{ID: "2", N: 1}); !errors.Is(err, admission.ErrFull) {
		t.Fatalf("Join: %v, want ErrFull", err)
	}
	_, err = f.Claim(t.Context(), admission.Seen{}, 1)
	f.ok(err)
	_, err = f.Renew(t.Context(), admission.Seen{}, 1, snapshot.Now.Add(5*time.Minute))
	f.ok(err)
	_, err = f.Sync(t.Context(), admission.Sync{Replica: "r1", Near: snapshot.Waiting, Far: snapshot.Waiting})
	f.ok(err)
	_, err = f.Release(t.Context(), admission.Seen{}, 2) // last, as its slot would go to the next after two ticks
	f.ok(err)
	snapshot.Seq += 100 // as a replica that has heard of more
	if restored := f.restore("r1", snapshot); restored.Waiting.Count() != 901 {
		t.Fatalf("%d wait after a restore", restored.Waiting.Count())
	}
}

func TestStore_ATickIsOneCommandWhateverTheCrowd(t *testing.T) {
	f := newFaulty(t)
	f.begun()
	var everybody admission.Bitmap
	for ticket := range admission.Ticket(1000) {
		everybody.Set(ticket)
	}
	before := f.calls("evalsha")
	for range 10 {
		_, err := f.Sync(t.Context(), admission.Sync{Replica: "r1", Near: everybody})
		f.ok(err)
	}
	if n := f.calls("evalsha") - before; n != 10 {
		t.Fatalf("10 ticks are %d calls", n)
	}
}

func TestStore_RunsWhereInfoMayNotBeAsked(t *testing.T) {
	f := newFaulty(t)
	f.ok(f.client.Do(t.Context(), "ACL", "SETUSER", "foyer", "on", "nopass", "~*", "+@all", "-info").Err())
	client := patient(t, strings.Replace(f.server.URL(), "redis://", "redis://foyer:x@", 1))
	f.Store = New(Settings{Client: client, Gate: "final"})
	snapshot := f.begun()
	f.ok(f.client.FlushAll(t.Context()).Err())
	f.wantLost(snapshot)
	f.wantWhole(f.restore("r1", snapshot))
}

// calls is how often the server has run a command.
func (f faulty) calls(command string) (n int) {
	f.Helper()
	info, err := f.client.Info(f.Context(), "commandstats").Result()
	f.ok(err)
	_, rest, found := strings.Cut(info, "cmdstat_"+command+":calls=")
	if _, err := fmt.Sscanf(rest, "%d,", &n); found && err != nil {
		f.Fatal(err)
	}
	return n
}
