package admission

import (
	"context"
	"time"
)

// Restorer is the part of a store that gives a lost line back. A store is lost when it was emptied, restarted, failed
// over, rolled back, or its clock was set: then every verb of Store answers ErrLost until Restore.
//
// From the first Restore on, joins wait for RestoreWait, so that every replica can put in what it knows, and no slot is
// given until PassLife has passed, so that whoever is inside by a pass that the store knows nothing of is out. If every
// replica that the store has heard of in its last minute puts its image in, and none has seen a step that the store has
// not, nothing was lost and it goes on at once.
type Restorer interface {
	// Restore merges what a replica knows into the line, as the line of the server's present incarnation, and answers
	// how it stands. Images may come in any order and again: the highest tail counts, ended wins over a slot, of two ends
	// the later; slots are taken while K allows. Of two rounds the one seen at the higher step stands. An image without a
	// Round says only that its replica knows nothing; it restores a line only where the store still holds one.
	// ErrLost where neither the store nor the image holds a line.
	Restore(ctx context.Context, image Image) (Standing, error)

	// Vouch tells of a token that was validly signed and yet is unknown: a ticket above the tail raises the tail; a pass
	// whose lease is unknown gets it back until Proof.Expires, while no slots are given and K allows. A token of another
	// round puts off the giving of slots for as long as one of its passes may still live, and counts only if its ticket
	// lies below the base. Slot.Kind is NoSlot where the ticket has no lease after it.
	Vouch(ctx context.Context, seen Seen, proof Proof) (Claimed, error)
}

// RestoreWait is how long joins wait for all replicas to put in their images.
const RestoreWait = 3 * time.Second

// Image is what a replica knows of a line: its last snapshot, with all that has ended and been missed, kept current
// with what the replica did since.
type Image struct {
	Seen                    // Run and Seq: of the last answer; Now: what the clock should show, zero: no expectation
	Replica  string         // the replica's id
	AsOf     time.Time      // the store's clock at the last answer
	Round    string         // "": the replica knows of no line
	File     Rules          // as the configuration file has them
	Rules    Rules          // the effective ones
	Tail     Ticket         // the last ticket known to have been given out
	Spare    int            // so many numbers above Tail may have been given out since
	Base     Ticket         //
	Waiting  Bitmap         //
	Slots    []Slot         //
	Ended    Bitmap         // every ended ticket from Base on
	Missed   map[Ticket]int // every count
	Admitted uint64         //
	SoldOut  bool           //
}

// Proof is a validly signed token.
type Proof struct {
	Round   string
	Ticket  Ticket
	Pass    bool      // a pass, else a queue token
	Start   time.Time // of a pass: when its lease began
	Expires time.Time // of a pass: its end, by the store's clock
}
