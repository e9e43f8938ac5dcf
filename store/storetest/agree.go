package storetest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"foyer/admission"
)

var (
	firstSeed = flag.Uint64("first-seed", 0, "where the random rows of steps begin")
	seeds     = flag.Uint64("seeds", 40, "how many random rows of steps are walked")
	steps     = flag.Int("steps", 200, "how many steps a row has")
)

// Stores are the stores that must agree, by name; each opens a fresh gate, and all start at the same time.
type Stores map[string]func(t *testing.T) Gate

// WideEvery is of how many seeds one, each multiple of it, has thousands in line.
const WideEvery = 10

// fadingEvery is of how many seeds one has a line that moves up, since those in front fall silent and age out.
const fadingEvery = 4

// walkers bounds how many rows are walked at once: Redis has so many databases.
const walkers = 16

// Agree drives fresh gates of the stores through the same random steps, one row of steps for each seed, and wants the
// same answer from all of them after each step (flags: seeds, steps, first-seed); and that the answers hold what a line
// promises. It walks several rows at once, each with the stores of its walker: a walk is mostly waiting for Redis.
func Agree(t *testing.T, stores func(walker int) Stores) {
	many := min(walkers, 2*runtime.GOMAXPROCS(0))
	for walker := range many {
		t.Run(fmt.Sprint("walker_", walker), func(t *testing.T) {
			t.Parallel()
			mine := stores(walker)
			for seed := *firstSeed + uint64(walker); seed < *firstSeed+*seeds; seed += uint64(many) {
				if broken := Walk(t, mine, seed, *steps); broken != "" {
					t.Fatal(broken)
				}
			}
		})
	}
}

// Walk goes one row of random steps and tells where the stores disagreed or broke a promise, with the last steps before;
// "" where they did not.
func Walk(t *testing.T, stores Stores, seed uint64, steps int) (broken string) {
	w := &walk{T: t, random: rand.New(rand.NewPCG(seed, 0)), since: map[string]uint64{}, ended: map[admission.Ticket]bool{}, known: map[string]*admission.Image{}}
	for _, name := range sortedKeys(stores) {
		w.names = append(w.names, name)
		w.gates = append(w.gates, stores[name](t))
	}
	w.wide, w.fading = seed%WideEvery == 0, seed%fadingEvery == 0
	w.begin()
	for n := range steps {
		w.step()
		if w.broken != "" {
			return fmt.Sprintf("seed %d, step %d: %s\nthe last steps:\n%s", seed, n+1, w.broken, w.story())
		}
	}
	return ""
}

// walk is one row of random steps.
type walk struct {
	*testing.T
	random *rand.Rand
	wide   bool // whether thousands are in line
	fading bool // whether those in front fall silent for good
	names  []string
	gates  []Gate
	text   text
	steps  []string
	broken string

	rules admission.Rules // of the file
	last  admission.Snapshot
	most  int // the highest capacity since then
	round int
	joins int
	tail  admission.Ticket
	gone  admission.Ticket          // those below it poll no more
	ended map[admission.Ticket]bool // as far as replica r1 was told
	since map[string]uint64
	known map[string]*admission.Image // by replica: what it would put in
}

// ask puts one question to every store and compares the answers; it returns the first's.
func ask[R any](w *walk, what string, do func(admission.Store) (R, error)) (reply R, ok bool) {
	w.steps = append(w.steps, what)
	var first string
	for i, gate := range w.gates {
		got, err := do(gate.Store)
		written := w.text.of(got)
		if err != nil {
			written = fmt.Sprintf("lost %v, full %v", errors.Is(err, admission.ErrLost), errors.Is(err, admission.ErrFull))
			if !errors.Is(err, admission.ErrLost) {
				w.Fatalf("%s: %s: %v", w.names[i], what, err)
			}
		}
		switch {
		case i == 0:
			first, reply, ok = written, got, err == nil
			w.steps = append(w.steps, "  "+written)
		case written != first:
			w.broken = fmt.Sprintf("%s\n%s answers\n  %s\n%s answers\n  %s", what, w.names[0], first, w.names[i], written)
		}
	}
	return reply, ok
}

// check is what a line promises of every snapshot.
func (w *walk) check(before, s admission.Snapshot) {
	held := map[admission.Ticket]admission.Kind{}
	for _, slot := range s.Slots {
		if held[slot.Ticket] != admission.NoSlot {
			w.broken = fmt.Sprintf("ticket %d has two slots", slot.Ticket)
		}
		held[slot.Ticket] = slot.Kind
		if w.ended[slot.Ticket] && slot.Kind != admission.Leaving {
			w.broken = fmt.Sprintf("ticket %d has ended and has a slot", slot.Ticket)
		}
	}
	if len(s.Slots) > max(w.most, s.Rules.Capacity, len(before.Slots)) {
		w.broken = fmt.Sprintf("%d slots in a gate of %d, after %d", len(s.Slots), s.Rules.Capacity, len(before.Slots))
	}
	w.most = s.Rules.Capacity
	for _, t := range members(s.Waiting) {
		if held[t] != admission.NoSlot || w.ended[t] || t > s.Tail || t < s.Base {
			w.broken = fmt.Sprintf("ticket %d waits, and has a slot (%d), has ended (%v), or is none", t, held[t], w.ended[t])
		}
	}
	for _, t := range members(s.Ended) {
		w.ended[t] = true
	}
}

func (w *walk) story() string {
	text := ""
	for _, step := range w.steps[max(0, len(w.steps)-30):] {
		text += step + "\n"
	}
	return text
}
