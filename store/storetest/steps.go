package storetest

import (
	"fmt"
	"time"

	"foyer/admission"
)

func (w *walk) begin() {
	w.rules = Rules()
	w.rules.Capacity = 1 + w.random.IntN(6)
	w.rules.Keep = []time.Duration{time.Second, time.Minute}[w.random.IntN(2)]
	w.rules.Hold = []time.Duration{0, time.Minute}[w.random.IntN(2)]
	w.rules.QueueMax = []int{20, 10_000}[w.random.IntN(2)]
	w.rules.AdmitRate = []int{0, 0, 0, 100, 6000}[w.random.IntN(5)]
	if w.wide {
		w.rules.Capacity, w.rules.QueueMax = w.capacity(), 10_000
	}
	if w.fading {
		w.rules.Keep = time.Second
	}
	w.most = w.rules.Capacity
	standing, _ := ask(w, fmt.Sprintf("begin %+v", w.rules), func(s admission.Store) (admission.Standing, error) {
		return s.Begin(w.Context(), "round-0", w.rules)
	})
	w.text.origin = standing.Now
}

// step is one of the verbs, or time that passes.
func (w *walk) step() {
	switch n := w.random.IntN(100); {
	case n < 20 && w.fading:
		w.fade()
	case n < 20:
		w.advance([]time.Duration{
			30 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond, time.Second,
			3 * time.Second, 70 * time.Second,
		}[w.random.IntN(7)])
	case n < 35:
		w.join()
	case n < 65:
		w.sync()
	case n < 80:
		t := w.ticket()
		ask(w, fmt.Sprintf("claim %d", t), func(s admission.Store) (admission.Claimed, error) {
			return s.Claim(w.Context(), admission.Seen{}, t)
		})
	case n < 87:
		t, until := w.ticket(), w.last.Now.Add(time.Duration(w.random.IntN(15_000))*time.Millisecond)
		ask(w, fmt.Sprintf("renew %d until %s", t, w.text.time(until)), func(s admission.Store) (admission.Claimed, error) {
			return s.Renew(w.Context(), admission.Seen{}, t, until)
		})
	case n < 92:
		t := w.ticket()
		ask(w, fmt.Sprintf("release %d", t), func(s admission.Store) (admission.Standing, error) {
			return s.Release(w.Context(), admission.Seen{}, t)
		})
	case n < 94:
		w.vouch()
	case n < 95:
		w.lose()
	default:
		w.govern()
	}
}

// fade has some more in front fall silent, and lets a few ticks go by: windows stand still where nobody is heard.
func (w *walk) fade() {
	w.gone = min(w.gone, w.tail)
	if w.random.IntN(2) == 0 {
		w.gone += admission.Ticket(w.random.Uint64N(uint64(w.tail-w.gone) + 1))
	}
	for range 1 + w.random.IntN(4) {
		w.advance([]time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second}[w.random.IntN(3)])
		w.sync()
	}
}

func (w *walk) advance(d time.Duration) {
	w.steps = append(w.steps, "advance "+d.String())
	for _, gate := range w.gates {
		gate.Advance(d)
	}
}

// ticket is one that has a slot, one that waits, or any other.
func (w *walk) ticket() admission.Ticket {
	switch slots := w.last.Slots; {
	case len(slots) > 0 && w.random.IntN(4) > 0:
		return slots[w.random.IntN(len(slots))].Ticket
	case w.random.IntN(2) == 0:
		t, _ := w.last.Waiting.Next(0)
		return t
	default:
		return admission.Ticket(w.random.Uint64N(uint64(w.tail) + 3))
	}
}

func (w *walk) join() {
	w.joins++
	join := admission.Join{
		ID:     fmt.Sprint("join-", w.joins-w.random.IntN(2)),
		N:      []int{1, 1, 2, 5, 40, 300}[w.random.IntN(6)],
		Family: admission.Family(w.random.IntN(2)),
	}
	if w.wide {
		join.N *= 1 + w.random.IntN(10)
	}
	joined, ok := ask(w, fmt.Sprintf("join %+v", join), func(s admission.Store) (admission.Joined, error) {
		return s.Join(w.Context(), join)
	})
	if ok && joined.N > 0 {
		w.tail = max(w.tail, joined.First+admission.Ticket(joined.N)-1)
	}
}

func (w *walk) sync() {
	replica := fmt.Sprint("r", 1+w.random.IntN(3))
	sync := admission.Sync{Replica: replica, Near: w.polled(), Far: w.polled(), Since: w.since[replica]}
	for range w.random.IntN(4) {
		sync.Confirmed = append(sync.Confirmed, w.ticket())
		sync.Busy = append(sync.Busy, w.ticket())
	}
	switch n := w.random.IntN(20); n {
	case 0:
		sync.Since = 0
	case 1, 2:
		sync.SoldOut = new(n == 1)
	}
	sync.Seen.Seq = w.since[replica] * uint64(w.random.IntN(2))
	before := w.last
	snapshot, ok := ask(w, fmt.Sprintf("sync %s near %s far %s confirmed %v busy %v since %d seen %d sold out %v", replica,
		spans(members(sync.Near)), spans(members(sync.Far)), sync.Confirmed, sync.Busy, sync.Since, sync.Seen.Seq, sync.SoldOut != nil && *sync.SoldOut),
		func(s admission.Store) (admission.Snapshot, error) { return s.Sync(w.Context(), sync) })
	if !ok {
		w.restore(replica)
		return
	}
	w.last, w.tail, w.since[replica] = snapshot, snapshot.Tail, snapshot.Seq
	w.learn(replica, snapshot)
	w.check(before, snapshot)
}

// polled are some of the tickets that have not gone, counted from a base of the replica's own.
func (w *walk) polled() admission.Bitmap {
	b := w.some()
	for t, ok := b.Next(0); ok && t < w.gone; t, ok = b.Next(t) {
		b.Clear(t)
	}
	return b
}

// some are any tickets, those first in line, or, where the line is wide, some of all.
func (w *walk) some() admission.Bitmap {
	b := admission.Bitmap{Base: 64 * admission.Ticket(w.random.Uint64N(uint64(w.tail)/64+2))}
	if w.wide && w.random.IntN(2) == 0 {
		return w.crowd(b.Base)
	}
	for range w.random.IntN(6) {
		b.Set(b.Base + admission.Ticket(w.random.IntN(130)))
	}
	if waiting := members(w.last.Waiting); len(waiting) > 0 && w.random.IntN(2) == 0 {
		b.Base = w.last.Base
		b.Bits = nil
		for _, t := range waiting[:min(len(waiting), 1+w.random.IntN(20))] {
			b.Set(t)
		}
	}
	return b
}

// crowd is a share of those all over the line, and beyond it, counted from a base.
func (w *walk) crowd(base admission.Ticket) admission.Bitmap {
	if w.random.IntN(2) == 0 {
		base = w.last.Base
	}
	b := admission.Bitmap{Base: base, Bits: make([]byte, w.random.IntN(int(w.tail-min(base, w.tail))/8+20))}
	share := w.random.IntN(256)
	for i := range b.Bits {
		if w.random.IntN(256) < share {
			b.Bits[i] = byte(w.random.IntN(256))
		}
	}
	return b
}

// capacity is at most what one Sync ends and offers: the oracle does all at once.
func (w *walk) capacity() int {
	capacity := 1 + w.random.IntN(6)
	if w.wide {
		capacity *= 1 + w.random.IntN(80)
	}
	return capacity
}

// govern is what an operator does.
func (w *walk) govern() {
	switch w.random.IntN(4) {
	case 0:
		change := admission.Change{}
		change.Mode = new([]admission.Mode{admission.ModeOn, admission.ModeOn, admission.ModePaused, admission.ModeShadow}[w.random.IntN(4)])
		change.Capacity = new(w.capacity())
		w.most = max(w.most, *change.Capacity)
		ask(w, fmt.Sprintf("change mode %s capacity %d", *change.Mode, *change.Capacity), func(s admission.Store) (admission.Standing, error) {
			return s.Change(w.Context(), admission.Seen{}, change)
		})
	case 1:
		if w.random.IntN(2) == 0 {
			w.rules.Capacity = w.capacity()
			w.most = max(w.most, w.rules.Capacity)
		}
		ask(w, fmt.Sprintf("configure capacity %d", w.rules.Capacity), func(s admission.Store) (admission.Standing, error) {
			return s.Configure(w.Context(), admission.Seen{}, w.rules)
		})
	case 2:
		ahead := admission.Seen{Seq: w.last.Seq + 10_000}
		ask(w, "claim with a later step seen", func(s admission.Store) (admission.Claimed, error) {
			return s.Claim(w.Context(), ahead, 1)
		})
	case 3:
		if w.random.IntN(3) > 0 {
			return
		}
		w.round++
		clear(w.ended)
		ask(w, fmt.Sprint("reset round-", w.round), func(s admission.Store) (admission.Standing, error) {
			return s.Reset(w.Context(), admission.Seen{}, fmt.Sprint("round-", w.round))
		})
	}
}
