package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"foyer/admission"
)

// Restore takes over what a replica knows.
func (s *Store) Restore(ctx context.Context, image admission.Image) (admission.Standing, error) {
	args := []any{
		image.Replica, millis(image.AsOf), image.Round,
		decimal(uint64(image.Tail)), image.Spare, decimal(uint64(image.Base)),
		decimal(uint64(image.Waiting.Base)), image.Waiting.Bits, written(image.Slots),
		decimal(uint64(image.Ended.Base)), image.Ended.Bits, counts(image.Missed), decimal(image.Admitted),
		rand.Text(),
	}
	args = append(append(args, encode(image.File)...), encode(image.Rules)...)
	args = append(args, flag(image.SoldOut))
	return s.stand(ctx, "restore", restoreScript, image.Seen, args...)
}

// Vouch takes over what a signed token proves.
func (s *Store) Vouch(ctx context.Context, seen admission.Seen, proof admission.Proof) (admission.Claimed, error) {
	r, standing := s.run(ctx, vouchScript, s.keys.all, seen,
		proof.Round, decimal(uint64(proof.Ticket)), flag(proof.Pass), millis(proof.Start), millis(proof.Expires))
	return answer(admission.Claimed{Standing: standing, Slot: r.slot(proof.Ticket)}, s, "vouch", r)
}

// written is a list of slots as lua/restore.lua reads it.
func written(slots []admission.Slot) string {
	var b strings.Builder
	for _, slot := range slots {
		fmt.Fprintf(&b, "%d %d %d %d %d ", slot.Ticket, slot.Kind, flag(slot.Confirmed), millis(slot.Start), millis(slot.Expires))
	}
	return b.String()
}

func counts(missed map[admission.Ticket]int) string {
	var b strings.Builder
	for t, n := range missed {
		fmt.Fprintf(&b, "%d %d ", t, n)
	}
	return b.String()
}
