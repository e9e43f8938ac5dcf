package admission_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
	"foyer/store/memstore"
)

// lose empties the store: what answers from now on is another incarnation that knows nothing.
func (g *gate) lose() {
	synctest.Wait()
	g.store.exchange(memstore.New(memstore.Settings{Gate: "final"}))
}

// queue lets visitors in and others wait, spread over the replicas.
func (g *gate) queue(inside, waiting int) (in, out []*visitor) {
	for i := range inside + waiting {
		v := g.visitor()
		v.room = g.rooms[i%len(g.rooms)]
		got := v.visit()
		if want := i < inside; want != (got.Outcome == admission.Admit) {
			g.t.Fatalf("visitor %d: %+v", i, got)
		}
		if i < inside {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
		g.ticks(1)
	}
	return in, out
}

// keepUp polls for everybody as told, until the time is over, and lets nobody in but those who are.
func (g *gate) keepUp(d time.Duration, out []*visitor) {
	next := make([]time.Time, len(out))
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(admission.Tick) {
		for i, v := range out {
			if time.Now().Before(next[i]) {
				continue
			}
			next[i] = time.Now().Add(v.poll().Status.PollAfter)
		}
	}
}

func TestRestore_NobodyLosesAPlaceAndNobodyTooManyIsIn(t *testing.T) {
	inBubble(t, rules(5), 2, func(t *testing.T, g *gate) {
		in, out := g.queue(5, 30)
		for _, v := range in {
			v.visit()
		}
		g.ticks(2)
		g.lose()
		g.ticks(5)
		lost := time.Now()
		for i, v := range in {
			wants(t, "inside", v.visit(), admission.Admit, admission.StateAdmitted)
			if i == 0 {
				v.leave()
			}
		}
		if got := g.visitor().visit(); got.Outcome == admission.Admit {
			t.Fatalf("a newcomer is let in at once: %+v", got)
		}
		g.keepUp(4*time.Second, out)
		for i, v := range out {
			got := v.poll()
			wants(t, "waiting", got, admission.Wait, admission.StateWaiting)
			if got.Status.Position != i+1 {
				t.Errorf("number %d stands at %d", i+1, got.Status.Position)
			}
		}
		late := g.visitor()
		if got := late.visit(); got.Status.Position != 31 || got.Ticket < 100_000 {
			t.Errorf("a newcomer after the pause stands at %d with ticket %d", got.Status.Position, got.Ticket)
		}
		for time.Since(lost) < rules(5).PassLife()+time.Second {
			g.keepUp(10*time.Second, out)
			for _, v := range in[1:] {
				wants(t, "inside", v.visit(), admission.Admit, admission.StateAdmitted)
			}
		}
		g.keepUp(3*time.Second, out)
		wants(t, "first in line", out[0].visit(), admission.Admit, admission.StateAdmitted)
		wants(t, "second in line", out[1].visit(), admission.Wait, admission.StateWaiting)
		if peak := g.store.peak.Load(); peak > 5 {
			t.Errorf("%d slots at once", peak)
		}
	})
}

// The file was changed while the store was lost, or between two lives of the replica: what it says holds.
func TestRestore_TheFilesNewValuesHold(t *testing.T) {
	file := rules(2)
	changed, admin := file, 7
	changed.Idle = time.Minute
	inBubble(t, file, 1, func(t *testing.T, g *gate) {
		if err := g.rooms[0].Change(t.Context(), admission.Change{Capacity: &admin}); err != nil {
			t.Fatal(err)
		}
		g.visitor().visit()
		g.ticks(2)
		g.rooms[0].Reload(changed)
		g.lose()
		g.ticks(5)
		g.visitor().visit()
		snap, err := (*g.store.store.Load()).Sync(t.Context(), admission.Sync{Replica: "looks on"})
		if err != nil || snap.Rules.Idle != time.Minute || snap.Rules.Capacity != 7 {
			t.Errorf("idle %v, capacity %d, %v: want the file's 1m and the operator's 7", snap.Rules.Idle, snap.Rules.Capacity, err)
		}
	})
}

func TestRestore_TheFilesNewValuesHoldAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, file := openGate(t), &keeper{}
		g.add(admission.RoomSettings{Rules: rules(2), Keeper: file})
		g.visitor().visit()
		g.ticks(12)
		g.close()
		g.lose()
		g.add(admission.RoomSettings{Rules: rules(3), Keeper: file})
		g.ticks(2)
		if info := g.rooms[1].Info(); info.Capacity != 3 || info.Store != "ok" {
			t.Errorf("the file says 3 by now: %+v", info)
		}
		g.close()
	})
}

func TestRestore_WhatEndedStaysEnded(t *testing.T) {
	inBubble(t, rules(2), 1, func(t *testing.T, g *gate) {
		in, _ := g.queue(2, 3)
		g.ticks(2)
		in[0].leave() // and no Sync shows it before the store is lost
		g.lose()
		g.ticks(10)
		if got := in[0].room.Visit(t.Context(), in[0].tokens(), false); got.Outcome == admission.Admit {
			t.Errorf("let in after leaving: %+v", got)
		}
		if info := g.rooms[0].Info(); info.Active != 1 || info.Store != "ok" {
			t.Errorf("%+v", info)
		}
	})
}

func TestRestore_AFalseAlarmCostsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		g.add(admission.RoomSettings{Rules: rules(1)})
		in, out := g.queue(1, 1)
		g.ticks(2)
		g.store.alarm.Store(3) // as a store would whose answer was held up
		g.ticks(6)
		if got := g.visitor().visit(); got.Ticket != 3 {
			t.Errorf("a newcomer gets %+v", got)
		}
		in[0].leave()
		out[0].poll()
		g.ticks(4)
		wants(t, "next", out[0].visit(), admission.Admit, admission.StateAdmitted)
	})
}

// keeper is a state file in memory.
type keeper struct {
	mu   sync.Mutex
	kept *admission.Kept
}

func (k *keeper) Load() (admission.Kept, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return admission.Kept{}, false, nil
	}
	return *k.kept, true, nil
}

func (k *keeper) Save(kept admission.Kept) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = &kept
	return nil
}

func TestKeeper_OutlivesReplicaAndStoreTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, file := openGate(t), &keeper{}
		defer g.close()
		g.add(admission.RoomSettings{Rules: rules(2), Keeper: file})
		in, out := g.queue(2, 5)
		for _, v := range in {
			v.visit()
		}
		g.ticks(2)
		g.close() // cleanly
		if kept, ok, _ := file.Load(); !ok || !kept.Clean {
			t.Fatalf("kept %+v, %v", kept, ok)
		}
		g.lose()
		room := g.add(admission.RoomSettings{Rules: rules(2), Keeper: file})
		for _, v := range append(in, out...) {
			v.room = room
		}
		for _, v := range in {
			wants(t, "inside", v.visit(), admission.Admit, admission.StateAdmitted)
		}
		for i, v := range out {
			if got := v.poll(); got.Status.Position != i+1 || got.Status.State != admission.StateWaiting {
				t.Errorf("number %d: %+v", i+1, got.Status)
			}
		}
		if got := g.visitor().visit(); got.Refusal != admission.RefusedStore {
			t.Errorf("a newcomer during the pause: %+v", got)
		}
	})
}

func TestVouch_APassThatNobodyKnowsGetsItsLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGate(t)
		defer g.close()
		g.add(admission.RoomSettings{Rules: rules(3), Replica: "one"})
		g.queue(1, 0)
		g.ticks(20)
		// Another replica lets somebody in and dies with the store, before this one hears of it.
		g.add(admission.RoomSettings{Rules: rules(3), Replica: "two"})
		g.store.deaf.Store(true)
		g.ticks(2)
		v := g.visitor()
		v.room = g.rooms[1]
		wants(t, "let in", v.visit(), admission.Admit, admission.StateAdmitted)
		g.cancels[1]()
		g.lose()
		g.store.deaf.Store(false)
		g.ticks(20)
		v.room = g.rooms[0]
		wants(t, "at the replica that is left", v.visit(), admission.Admit, admission.StateAdmitted)
		g.ticks(2)
		if info := g.rooms[0].Info(); info.Active != 2 {
			t.Errorf("%d leases are known", info.Active)
		}
	})
}
