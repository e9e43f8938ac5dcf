package origin

import "time"

// Wish is a step in the life of a hold that a group may take together with others: a release, or, with an attempt in Settle,
// a settlement.
type Wish struct {
	Hold   string
	Buyer  string // of a release
	Settle Settlement
}

// Granted is what came of a wish.
type Granted struct {
	Settled         // of a release: the hold, and what it gave back
	Refusal Refusal // of a release
}

// Bundle is what a ledger has read, under the lock of the event's row, to decide on a group of wishes for it. Each is
// decided on as the ones before it have left things, so that the group comes out as if they had come one by one.
type Bundle struct {
	Now      time.Time // the ledger's clock, read after the locks
	Stock    Stock
	Units    map[string]int64   // by buyer, over all holds and orders
	Holds    map[string]Hold    // those of the wishes
	Attempts map[string]Attempt // those of the settlements
	Orders   map[string]Order   // by hold
}

// NewBundle makes an empty one.
func NewBundle() Bundle {
	return Bundle{
		Units: map[string]int64{}, Holds: map[string]Hold{}, Attempts: map[string]Attempt{}, Orders: map[string]Order{},
	}
}

// Grant decides on a wish and takes the decision over, with the id of an order if it makes one. The move is to be written
// to the books as they are after it.
func (b *Bundle) Grant(wish Wish, order string) (Granted, Books, Move) {
	attempt, known := b.Attempts[wish.Settle.Attempt]
	if wish.Settle.Attempt != "" && !known {
		return Granted{}, Books{}, Move{}
	}
	hold := b.Holds[wish.Hold]
	books := Books{Now: b.Now, Stock: b.Stock, Units: b.Units[hold.Buyer], Hold: hold, Attempt: attempt, Order: b.Orders[hold.ID]}
	books.Hold.Order = books.Order.ID
	var (
		move    Move
		refusal Refusal
	)
	if known {
		move = books.Settle(wish.Settle)
	} else {
		move, refusal = books.Release(wish.Buyer)
	}
	if refusal == NoSuchHold {
		return Granted{Refusal: refusal}, Books{}, Move{}
	}
	books = books.Apply(move, order)
	b.keep(books)
	return Granted{Settled: books.Settled(move), Refusal: refusal}, books, move
}

func (b *Bundle) keep(books Books) {
	b.Stock = books.Stock
	b.Units[books.Hold.Buyer] = books.Units
	b.Holds[books.Hold.ID] = books.Hold
	if books.Attempt.ID != "" {
		b.Attempts[books.Attempt.ID] = books.Attempt
	}
	if books.Order.ID != "" {
		b.Orders[books.Hold.ID] = books.Order
	}
}
