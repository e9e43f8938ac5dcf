package memstore

import (
	"maps"

	"foyer/admission"
)

// spareAfterCrash is how many numbers are left unused above the last one saved: those that may have been given out
// between the last save and a crash.
const spareAfterCrash = 100_000

// Image is the line as it stands, to be saved; without a Round before anything has begun.
func (s *Store) Image() admission.Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == nil {
		return admission.Image{}
	}
	return s.line.image(s.clock())
}

func (l *line) image(now int64) admission.Image {
	return admission.Image{
		Seen: admission.Seen{Run: l.run, Seq: l.seq}, AsOf: moment(now), Round: l.round,
		File: l.file, Rules: l.rules, Tail: l.tail, Base: l.base, Waiting: l.whoWaits(), Slots: l.sorted(),
		Ended: l.ended.Clone(), Missed: maps.Clone(l.missed), Admitted: l.admitted, SoldOut: l.soldOut,
	}
}

// resumed is the line that the image of a predecessor holds. After a clean stop it goes on at once. After a crash some
// steps may be missing: numbers are skipped, and slots are given again when every pass from before has run out.
func resumed(run string, image admission.Image, clean bool, now int64) *line {
	image.Seen = admission.Seen{Seq: image.Seq} // the clock is another process's
	if !clean {
		image.Spare = spareAfterCrash
	}
	l := restored(run, image, now)
	l.restore(image, now)
	l.passed = !clean
	l.pause()
	l.joins = 0 // there is nobody else to wait for
	return l
}
