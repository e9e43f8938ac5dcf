package storetest

import (
	"fmt"
	"maps"
	"time"

	"foyer/admission"
)

// learn brings what a replica would put in up to date with a snapshot.
func (w *walk) learn(replica string, s admission.Snapshot) {
	image := w.known[replica]
	if image == nil || s.EndedAll {
		image = &admission.Image{Replica: replica, Missed: map[admission.Ticket]int{}}
		w.known[replica] = image
	}
	image.Seq, image.AsOf, image.Round, image.File, image.Rules = s.Seq, s.Now, s.Round, w.rules, s.Rules
	image.Tail, image.Spare, image.Base, image.Admitted = s.Tail, 50, s.Base, s.Admitted
	image.SoldOut = s.SoldOut
	image.Waiting, image.Slots = s.Waiting, s.Slots
	ended := image.Ended.Rebase(s.Base)
	for _, t := range members(s.Ended) {
		ended.Set(t)
	}
	image.Ended = ended
	maps.Copy(image.Missed, s.Missed)
}

// lose empties every store. What a replica knew may be put in soon, later, or never.
func (w *walk) lose() {
	w.steps = append(w.steps, "lose")
	for _, gate := range w.gates {
		gate.Lose()
		gate.Advance(time.Millisecond)
	}
	clear(w.ended)
	for _, replica := range sortedKeys(w.known) {
		if w.random.IntN(2) == 0 {
			w.restore(replica)
		}
	}
}

// restore puts in what a replica knows; a line that nobody knows begins anew.
func (w *walk) restore(replica string) {
	image := admission.Image{Replica: replica}
	image.Now = []time.Time{{}, {}, w.last.Now}[w.random.IntN(3)]
	if known := w.known[replica]; known != nil {
		expected := image.Now
		image = *known
		image.Now = expected
	}
	_, ok := ask(w, fmt.Sprintf("restore %s from step %d of %s", replica, image.Seq, image.Round),
		func(s admission.Store) (admission.Standing, error) { return s.Restore(w.Context(), image) })
	if !ok {
		ask(w, "begin anew", func(s admission.Store) (admission.Standing, error) {
			return s.Begin(w.Context(), fmt.Sprint("round-", w.round), w.rules)
		})
	}
	w.most = max(w.most, image.Rules.Capacity, w.rules.Capacity, len(w.last.Slots)) // a lowered capacity ends no slot
	w.since[replica] = 0
	w.last = admission.Snapshot{}
	clear(w.ended)
}

// vouch shows a token: of a ticket beyond the tail, a pass, or one of another round.
func (w *walk) vouch() {
	proof := admission.Proof{
		Round:   fmt.Sprint("round-", max(0, w.round-w.random.IntN(2))),
		Ticket:  w.ticket() + admission.Ticket(w.random.IntN(3)),
		Pass:    w.random.IntN(2) == 0,
		Start:   w.last.Now,
		Expires: w.last.Now.Add(time.Duration(w.random.IntN(3000)) * time.Millisecond),
	}
	ask(w, fmt.Sprintf("vouch %+v", proof), func(s admission.Store) (admission.Claimed, error) {
		return s.Vouch(w.Context(), admission.Seen{}, proof)
	})
}
