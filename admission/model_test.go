package admission_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"foyer/admission"
	"foyer/store/memstore"
)

var (
	firstSeed = flag.Uint64("first-seed", 0, "where the model's dice begin")
	seeds     = flag.Uint64("seeds", 4, "how many worlds the model goes through")
	steps     = flag.Int("steps", 400, "how many steps a world has")
)

// world is some replicas of one gate, each with its own connection to a store that may be lost, and a crowd, all moved
// by dice. At every step nobody too many may be inside, no shown position may rise, and no place may be lost to anything
// but somebody's own silences.
type world struct {
	*gate
	dice   *rand.Rand
	rules  admission.Rules
	links  []*faulty
	files  []*keeper
	crowd  []*person
	quiet  time.Time // until then no second fault is added to one that is being mended
	served int
	faults []string // what has been broken, and when
}

// person is a visitor with a will of its own.
type person struct {
	visitor
	next   time.Time // when it asks again
	inside bool      // its last answer let it in
	passed bool      // an answer has let it in: nobody else can have a pass
	shown  int
	ticket admission.Ticket
	since  time.Time // of the ticket
	sleeps int       // since then: each may miss one offer
	leaves time.Time
	trail  []string // its answers, to tell how a place was lost
}

func newWorld(t *testing.T, seed uint64) *world {
	r := quick(3)
	r.Max = 20 * time.Second
	if seed%2 == 1 {
		r.PollMax = 3 * time.Second
	}
	w := &world{gate: openGate(t), dice: rand.New(rand.NewPCG(seed, 1)), rules: r}
	for range 3 {
		w.files = append(w.files, &keeper{})
		w.links = append(w.links, newFaulty(*w.store.store.Load()))
		w.addReplica(len(w.files) - 1)
	}
	return w
}

// addReplica starts a replica in the place of another, with its state file.
func (w *world) addReplica(i int) {
	off := time.Duration(w.dice.IntN(600)-300) * time.Second
	room := admission.NewRoom(admission.RoomSettings{
		Gate: "final", Keys: w.keys, Rules: w.rules, Inflight: 4, Store: w.links[i], Keeper: w.files[i],
		Now: func() time.Time { return time.Now().Add(off) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	w.wg.Go(func() { _ = room.Run(ctx) })
	if i < len(w.rooms) {
		w.rooms[i], w.cancels[i] = room, cancel
	} else {
		w.rooms, w.cancels = append(w.rooms, room), append(w.cancels, cancel)
	}
}

// step lets a tenth of a second pass: whoever wants to asks, and sometimes something breaks.
func (w *world) step() error {
	time.Sleep(admission.Tick)
	synctest.Wait()
	w.fault()
	if w.dice.IntN(4) == 0 && len(w.crowd) < 25 {
		w.crowd = append(w.crowd, &person{visitor: visitor{g: w.gate}})
	}
	for i := 0; i < len(w.crowd); i++ {
		p := w.crowd[i]
		if time.Now().Before(p.next) {
			continue
		}
		if err := w.ask(p); err != nil {
			return err
		}
		if p.token == "" && w.dice.IntN(10) == 0 || p.inside && !time.Now().Before(p.leaves) || w.dice.IntN(300) == 0 {
			if p.inside && w.dice.IntN(3) > 0 {
				p.leave()
				w.served++
			}
			w.crowd = append(w.crowd[:i], w.crowd[i+1:]...)
			i--
		}
	}
	return w.count()
}

// ask lets somebody ask a replica, and keeps the answer.
func (w *world) ask(p *person) error {
	p.room = w.rooms[w.dice.IntN(len(w.rooms))]
	got := p.visit()
	p.next = time.Now().Add(max(got.Status.PollAfter, admission.Tick))
	if w.dice.IntN(40) == 0 {
		p.next = p.next.Add(time.Duration(w.dice.IntN(8000)) * time.Millisecond) // the phone sleeps
		p.sleeps++
	}
	p.trail = append(p.trail, fmt.Sprintf("%s %d %s;", time.Now().Format("04:05.0"), got.Ticket, got.Status.State))
	if got.Ticket != p.ticket && got.Ticket != 0 {
		if p.ticket != 0 && p.sleeps <= w.rules.Returns && time.Since(p.since) < w.rules.Max {
			return fmt.Errorf("ticket %d has become %d after %d sleeps: %v\n%v", p.ticket, got.Ticket, p.sleeps, p.trail, w.faults)
		}
		p.ticket, p.shown, p.since, p.sleeps = got.Ticket, 0, time.Now(), 0
	}
	if got.Outcome == admission.Admit && !p.inside {
		p.passed, p.leaves = true, time.Now().Add(time.Duration(w.dice.IntN(4000))*time.Millisecond)
	}
	p.inside = got.Outcome == admission.Admit
	switch {
	case p.inside:
		p.shown = 0
	case got.Status.Position > 0:
		if p.shown > 0 && got.Status.Position > p.shown {
			return fmt.Errorf("ticket %d was shown position %d, then %d", p.ticket, p.shown, got.Status.Position)
		}
		p.shown = got.Status.Position
	}
	return nil
}

// count asks every replica whom of the crowd it would let in as things are, without changing anything.
func (w *world) count() error {
	in := map[admission.Ticket]bool{}
	for _, p := range w.crowd {
		if !p.passed {
			continue
		}
		for _, room := range w.rooms {
			if v, ok := room.Identify(p.tokens()); ok && v.Outcome == admission.Admit {
				in[v.Ticket] = true
				break
			}
		}
	}
	if len(in) > w.rules.Capacity {
		return fmt.Errorf("%d tickets are let in at once: %v", len(in), in)
	}
	return nil
}

// fault breaks or mends something, now and then.
func (w *world) fault() {
	i := w.dice.IntN(len(w.links))
	what := w.dice.IntN(400)
	if what < 8 {
		w.faults = append(w.faults, fmt.Sprintf("%s %d at %d;", time.Now().Format("04:05.0"), what, i))
	}
	switch what {
	case 0: // the store is restarted empty; one that nobody knows any more would be a new one
		if time.Now().After(w.quiet) {
			w.quiet = time.Now().Add(5 * time.Second)
			next := memstore.New(memstore.Settings{Gate: "final"})
			for _, link := range w.links {
				link.exchange(next)
			}
		}
	case 1, 2: // a link is cut, for up to three times idle
		if link := w.links[i]; !link.down.Load() && time.Now().After(w.quiet) {
			link.down.Store(true)
			time.AfterFunc(time.Duration(w.dice.IntN(6000))*time.Millisecond, func() { link.down.Store(false) })
		}
	case 3: // replies are lost
		w.links[i].lose.Store(int32(w.dice.IntN(4)))
	case 6, 7: // replies to Syncs are lost
		w.links[i].loseSyncs.Store(int32(1 + w.dice.IntN(3)))
	case 4: // a false alarm
		w.links[i].alarm.Store(1)
	case 5: // a replica ends and another takes its place
		if time.Now().After(w.quiet) && !w.links[i].down.Load() {
			w.cancels[i]()
			synctest.Wait()
			w.addReplica(i)
		}
	}
}

// TestModel_KeepsThePromisesThroughFaults goes through few worlds unless told otherwise (flags: seeds, steps, first-seed).
func TestModel_KeepsThePromisesThroughFaults(t *testing.T) {
	var served atomic.Int64
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			defer w.close()
			for n := range *steps {
				if err := w.step(); err != nil {
					t.Errorf("seed %d, step %d: %v", seed, n, err)
					break
				}
			}
			served.Add(int64(w.served))
			time.Sleep(10 * time.Second) // what was cut is mended
		})
	}
	if served.Load() < int64(*seeds) {
		t.Errorf("only %d were served in all: the model proves nothing", served.Load())
	}
}
