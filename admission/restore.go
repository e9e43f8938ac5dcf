package admission

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"
)

const (
	// spareLeast is the least number of tickets taken to have been given out since the last snapshot.
	spareLeast = 100_000
	// beginAfter is how long a replica that has seen a line, and has no image of it, waits for others to restore it.
	beginAfter = 3 * time.Second
)

// mend gives a lost line back: with what this replica knows of it, or, where nobody knows anything, as a new one.
func (r *Room) mend() error {
	image := r.image()
	err := r.link.once("restore", func(ctx context.Context, _ Seen) (Standing, error) {
		return r.link.store.Restore(ctx, image)
	})
	if err == nil {
		r.log.Warn("line restored", zap.String("round", image.Round), zap.Uint64("tail", uint64(image.Tail)))
		return nil
	}
	if !errors.Is(err, ErrLost) || image.Round != "" {
		return err
	}
	if image.Run != "" && r.clock.local().Sub(r.lostAt) < beginAfter {
		return err
	}
	return r.open()
}

// image is what this replica knows of the line: its last view, with what it has done since.
func (r *Room) image() Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Not r.file: the store takes over a value of the file where it is another than before, and the effective ones that
	// go with the image are not the file's yet.
	image := Image{Seen: r.link.expect(), Replica: r.replica, File: r.told}
	v := r.view.Load()
	if v == nil {
		if r.kept != nil {
			image = *r.kept
			image.Replica, image.Now = r.replica, time.Time{}
		}
		return image
	}
	image.AsOf, image.Round, image.Rules = v.snap.Now, v.snap.Round, v.snap.Rules
	image.Tail, image.Base, image.Admitted = max(v.snap.Tail, r.tail), v.snap.Base, v.snap.Admitted
	image.SoldOut = r.soldOut(v)
	image.Waiting, image.Ended, image.Missed = v.snap.Waiting, v.ended, v.missed
	image.Slots = r.link.deeds.onto(v.snap.Slots)
	if gone := r.gone.Load(); gone != nil {
		image.Ended = image.Ended.Clone()
		for t := range *gone {
			if t >= image.Base && t <= image.Tail {
				image.Ended.Set(t)
			}
		}
		image.Slots = slices.DeleteFunc(image.Slots, func(s Slot) bool { _, ok := (*gone)[s.Ticket]; return ok })
	}
	slices.SortFunc(image.Slots, func(a, b Slot) int { return cmp.Compare(a.Ticket, b.Ticket) })
	age := max(r.clock.now().Sub(v.snap.Now), 0)
	image.Spare = max(spareLeast, int(math.Ceil(v.flow.Fastest*age.Seconds())))
	return image
}

// vouch tells the store of signed tokens that the line knows nothing of, the most telling ones of a tick.
func (r *Room) vouch() {
	for _, proof := range r.marks.proofs() {
		if _, err := r.link.vouch(proof); err != nil {
			return
		}
	}
}

// suspect notes a fresh token that the line knows nothing of, for the next tick to vouch for. A ticket that another
// replica has given out a moment ago is none.
func (r *Room) suspect(v *view, h holder, now time.Time) {
	if !h.fresh || now.Sub(h.Issued) < settle {
		return
	}
	switch ours := h.Round == v.snap.Round; {
	case ours && h.Ticket > v.snap.Tail, !ours && h.passes(now) && h.Ticket >= v.snap.Base:
		r.marks.vouch(h.proof(), ours)
	}
}

// proof is what a token proves.
func (t Token) proof() Proof {
	proof := Proof{Round: t.Round, Ticket: t.Ticket, Pass: t.Use == UsePass}
	if proof.Pass {
		proof.Start, proof.Expires = t.Started, t.Expires
	}
	return proof
}

// vouch tells the store of one token.
func (l *link) vouch(proof Proof) (slot Slot, err error) {
	err = l.verb("vouch", callTries, func(ctx context.Context, seen Seen) (Standing, error) {
		got, err := l.store.Vouch(ctx, seen, proof)
		slot = got.Slot
		l.deeds.add(got.Standing, slot, err)
		return got.Standing, err
	})
	return slot, err
}
