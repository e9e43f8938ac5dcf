package admission_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
	"foyer/store/memstore"
)

// rules are a small gate's: claim 20 s, idle 2 min, polls of 2 to 30 s.
func rules(capacity int) admission.Rules {
	return admission.Rules{
		Capacity: capacity, Mode: admission.ModeOn,
		Idle: 2 * time.Minute, Max: 15 * time.Minute, Claim: 20 * time.Second,
		QueueMax: 1_000_000, Keep: 2 * time.Hour, Returns: 2,
		PollMin: 2 * time.Second, PollMax: 30 * time.Second, Leeway: 5 * time.Second,
	}
}

// gate is a line with some replicas, in a bubble of its own time.
type gate struct {
	t       *testing.T
	store   *faulty
	keys    *admission.Keyring
	rooms   []*admission.Room
	cancels []context.CancelFunc
	wg      sync.WaitGroup
}

// inBubble runs a test on a gate whose replicas have had their first Sync.
func inBubble(t *testing.T, rules admission.Rules, replicas int, test func(t *testing.T, g *gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		for range replicas {
			g.add(admission.RoomSettings{Rules: rules})
		}
		test(t, g)
		g.close()
	})
}

func openGate(t *testing.T) *gate {
	t.Helper()
	keys, err := admission.NewKeyring(admission.Key{ID: "a", Secret: bytes.Repeat([]byte("a"), admission.MinSecret)})
	if err != nil {
		t.Fatal(err)
	}
	return &gate{t: t, keys: keys, store: newFaulty(memstore.New(memstore.Settings{Gate: "final"}))}
}

// add starts one more replica and waits until it is ready.
func (g *gate) add(settings admission.RoomSettings) *admission.Room {
	settings.Gate, settings.Keys = "final", g.keys
	if settings.Store == nil {
		settings.Store = g.store
	}
	if settings.Inflight == 0 {
		settings.Inflight = 32
	}
	room := admission.NewRoom(settings)
	ctx, cancel := context.WithCancel(context.Background())
	g.wg.Go(func() { _ = room.Run(ctx) })
	g.rooms, g.cancels = append(g.rooms, room), append(g.cancels, cancel)
	if !g.store.down.Load() {
		<-room.Ready()
	}
	return room
}

func (g *gate) close() {
	for _, cancel := range g.cancels {
		cancel()
	}
	g.wg.Wait()
}

// ticks lets n ticks pass, and the work of the last.
func (g *gate) ticks(n int) {
	time.Sleep(time.Duration(n) * admission.Tick)
	synctest.Wait()
}

// visitor is a browser with a cookie jar.
type visitor struct {
	g     *gate
	room  *admission.Room
	token string
}

func (g *gate) visitor() *visitor { return &visitor{g: g, room: g.rooms[0]} }

// jar keeps what a verdict hands out.
func (v *visitor) jar(verdict admission.Verdict) admission.Verdict {
	if verdict.Token != "" {
		v.token = verdict.Token
	}
	return verdict
}

func (v *visitor) tokens() []string {
	if v.token == "" {
		return nil
	}
	return []string{v.token}
}

func (v *visitor) visit() admission.Verdict {
	return v.jar(v.room.Visit(context.Background(), v.tokens(), true))
}

func (v *visitor) poll() admission.Verdict {
	return v.jar(v.room.Status(context.Background(), v.tokens()))
}

func (v *visitor) leave() admission.Verdict {
	return v.jar(v.room.Leave(context.Background(), v.tokens()))
}

// wants fails the test where a verdict is not as expected.
func wants(t *testing.T, what string, v admission.Verdict, outcome admission.Outcome, state admission.State) {
	t.Helper()
	if v.Outcome != outcome || v.Status.State != state {
		t.Fatalf("%s: outcome %d, refusal %q, status %+v; want outcome %d, state %q",
			what, v.Outcome, v.Refusal, v.Status, outcome, state)
	}
}
