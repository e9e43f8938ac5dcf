package admission

import (
	"context"
	"errors"
	"time"
)

// Ticket is a visitor's number in a gate's line: 1, 2, 3 … Zero is no ticket. Numbers are never given out twice in a
// gate, also not after a reset.
type Ticket uint64

// Errors of a [Store]. Any other error means that the store did not answer, or not in time: what was asked may or may
// not have been done, and may be asked again.
var (
	// ErrLost: the store holds no line for the gate, or another than the caller knows: it was emptied, restarted or
	// rolled back. Nothing was done. It refuses until it is restored.
	ErrLost = errors.New("the store has lost the line")
	// ErrFull: the store has no memory for another ticket. Nothing was done.
	ErrFull = errors.New("the store has no room for another ticket")
)

// Store is one gate's line and slots as all its replicas share them. Each method is one atomic step, safe to repeat
// when its answer was lost, and judged by the store's clock. Every step that gives or ends a ticket or a slot raises
// the sequence number by one or more. After each step, offers + leases (+ those just leaving) ≤ Capacity, but for a
// capacity lowered while more are inside: then no slot is given until fewer are.
//
// A refusal is a value in the reply; an error is something that broke. All methods end with the context.
type Store interface {
	// Begin starts a round with the given id and rules if the store holds nothing for this gate; where it holds a line
	// already, that one is kept. It answers with what stands. ErrLost where what it holds belongs to another
	// incarnation of the store.
	Begin(ctx context.Context, round string, file Rules) (Standing, error)

	// Configure takes over the values of the configuration file, key by key: one is written only where the file's value
	// differs from the file's value stored before, so that a change made by Change survives a restart.
	Configure(ctx context.Context, seen Seen, file Rules) (Standing, error)

	// Change sets the effective value of the keys given, for every replica, until the file's value of that key changes.
	Change(ctx context.Context, seen Seen, change Change) (Standing, error)

	// Join gives out consecutive tickets, the same ones when repeated with the same request id within a minute. While
	// nobody waits and slots are free (and the mode, the times and the rate allow), the first of them get a lease at
	// once, unconfirmed, for Claim. The others are live in the family given.
	Join(ctx context.Context, join Join) (Joined, error)

	// Sync takes over what a replica has seen since its last Sync, ends what has expired, offers free slots to the
	// lowest waiting tickets (a few hundred per call), and answers with the gate's state. Once per Tick and replica.
	//
	// A poll of somebody with a slot makes nobody live beyond it. An offer that lapses counts as missed, and Returns of
	// them are forgiven, unless a replica of the last minute was not heard for half a second of its time, or the line was
	// restored less than two far windows before: then its visitor may not have been able to claim it.
	Sync(ctx context.Context, sync Sync) (Snapshot, error)

	// Claim turns a ticket's offer into a confirmed lease; a lease is answered as it stands (and is confirmed by it).
	// A ticket with neither gets Slot.Kind NoSlot.
	Claim(ctx context.Context, seen Seen, ticket Ticket) (Claimed, error)

	// Renew sets a lease's end to the later of what it is and until, but never past Max from its start (with Rules.Hold:
	// Max + Hold + 1 min), and confirms it. It never resurrects one that has ended: then Slot.Kind is NoSlot.
	Renew(ctx context.Context, seen Seen, ticket Ticket, until time.Time) (Claimed, error)

	// Release ends a ticket for good. A slot it has goes on counting as Leaving for two ticks, until every replica has
	// heard of it, and is free then. Repeating it, or releasing a ticket that has no slot, is harmless.
	Release(ctx context.Context, seen Seen, ticket Ticket) (Standing, error)

	// Reset begins a new round: those who wait and those with an offer are ended, numbers go on counting, those inside
	// keep their leases.
	Reset(ctx context.Context, seen Seen, round string) (Standing, error)

	Restorer
}

// Seen is what the caller knows of the store, from the last answer it had. A zero Seen knows nothing and is always
// right. A store whose incarnation differs, whose sequence number is lower, or whose clock is off by more than the
// leeway from Now answers ErrLost.
type Seen struct {
	Run string    // the store's incarnation
	Seq uint64    // the highest sequence number seen
	Now time.Time // what the store's clock is expected to show; zero: no expectation
}

// Standing is how the store stands after a step; part of every reply.
type Standing struct {
	Run   string    // incarnation: the run_id of a Redis server, a random id of a process's memory
	Seq   uint64    // sequence number after the step
	Now   time.Time // the store's clock
	Round string    // id of the round
}

// Family says which polling interval a visitor was told, and so how long he counts as live.
type Family int

// The two families of liveness windows.
const (
	Near Family = iota // told PollMin: windows of Rules.NearWindow
	Far                // told up to PollMax: windows of Rules.FarWindow
)

// Join asks for tickets.
type Join struct {
	Seen
	ID     string // request id, random; the same id gets the same tickets
	N      int    // how many, at least 1
	Family Family // the interval those who must wait will be told
}

// Joined answers a Join. Fewer tickets than asked (or none) are given where the gate is full or closed: Refusal says why.
type Joined struct {
	Standing
	First   Ticket    // the first of N consecutive tickets
	N       int       // how many were given
	Leased  int       // the first so many of them hold an unconfirmed lease
	Expires time.Time // end of those leases
	Refusal Refusal   // RefusedFull or RefusedClosed where fewer than asked were given, RefusedStore: being restored, ask again; else empty
}

// Sync is what a replica reports once per tick.
type Sync struct {
	Seen
	Replica   string   // the replica's id, random per process
	Near, Far Bitmap   // tickets that polled or asked since the last Sync, by the interval they were told next
	Confirmed []Ticket // leases whose visitor has shown the token
	Busy      []Ticket // leases with a request in flight: they do not end while it runs, but at Rules.Max
	SoldOut   *bool    // what the shop has said since the last Sync: that nothing is left, or something; nil: nothing
	Since     uint64   // the sequence number up to which the replica knows who has ended; 0: nothing
}

// Snapshot is a gate's state after a Sync. The replica owns it; nothing in it changes.
type Snapshot struct {
	Standing
	Rules    Rules                // the effective ones
	Tail     Ticket               // the last ticket given out
	Base     Ticket               // a multiple of 64; tickets below it have ended (unless they have a slot)
	Waiting  Bitmap               // live, without a slot, not ended
	Slots    []Slot               // every slot, ascending by ticket
	Ended    Bitmap               // tickets ended after Sync.Since; whole if EndedAll
	EndedAll bool                 // Ended holds every ended ticket from Base on, and Missed every count
	Missed   map[Ticket]int       // offers let lapse, of those tickets whose count changed after Sync.Since
	Admitted uint64               // leases given in this round, ever growing: Δ over time is the admission rate
	Replicas map[string]time.Time // last Sync of each replica of the last minute
	SoldOut  bool                 // the shop has said that nothing is left, to the replica that heard of it last; a reset forgets it
	Gives    time.Time            // no slot is given before: the line is being restored (see Restorer); zero: it is not
}

// Kind is what a slot is.
type Kind int

// Kinds of slots.
const (
	NoSlot  Kind = iota // no slot
	Offer               // reserved until claimed or Expires
	Lease               // in use until Expires
	Leaving             // released, and counted until every replica has heard of it
)

// Slot is one of a gate's K places, held by a ticket.
type Slot struct {
	Ticket    Ticket
	Kind      Kind
	Confirmed bool      // a lease whose visitor has shown the token
	Start     time.Time // when the lease (or the offer) began
	Expires   time.Time // when it ends by itself
}

// Claimed answers a Claim or a Renew.
type Claimed struct {
	Standing
	Slot Slot // how it stands now; Kind NoSlot: the ticket has none
}

// Change is a change of settings at run time; nil keeps a key.
type Change struct {
	Mode      *Mode
	Capacity  *int
	AdmitRate *int
}
