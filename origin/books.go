package origin

import "time"

// Books is what a ledger has read, under its locks, of one hold and what belongs to it. The rules of a hold's life are
// pure functions of it; a ledger reads the books, asks for a [Move], writes the move and answers with Apply.
type Books struct {
	Now     time.Time // the ledger's clock, read after the locks
	Stock   Stock     // of the hold's event; unset where a rule does not need it
	Units   int64     // of the hold's buyer, over all holds and orders
	Hold    Hold      // zero where there is none
	Attempt Attempt   // the attempt in question, or the open one
	Order   Order     // of the hold, once sold
}

// Move is a step in the life of a hold: what is to be written, all of it or nothing. The zero Move changes nothing.
type Move struct {
	Held, Sold, Units int64        // to be added to the event's held and sold, and to the buyer's units
	Hold              HoldState    // the new state, empty for as it is
	Attempt           AttemptState // the new state, empty for as it is
	Charge, Reason    string       // of the attempt
	Order             bool         // an order is to be made
}

// Frees tells whether the move gives units back to be sold again.
func (m Move) Frees() bool { return m.Held+m.Sold < 0 }

// Release ends a hold on the wish of a buyer.
func (b Books) Release(buyer string) (Move, Refusal) {
	if b.Hold.ID == "" || b.Hold.Buyer != buyer {
		return Move{}, NoSuchHold
	}
	switch b.Hold.State {
	case HoldPending, HoldActive:
		return b.free(HoldReleased), NotRefused
	case HoldPaying:
		return Move{}, PaymentInProgress
	case HoldSold:
		return Move{}, AlreadyPaid
	default:
		return Move{}, NotRefused
	}
}

// Start begins to pay. Where the attempt is already in the books, nothing is moved and it stands for the answer.
func (b Books) Start(start PaymentStart) (Move, Refusal) {
	if b.Hold.ID == "" || b.Hold.Buyer != start.Buyer {
		return Move{}, NoSuchHold
	}
	if b.Attempt.ID == start.Attempt {
		return Move{}, NotRefused
	}
	switch b.Hold.State {
	case HoldActive:
		if b.Now.Before(b.Hold.ExpiresAt) {
			return Move{Hold: HoldPaying, Attempt: AttemptOpen}, NotRefused
		}
		return Move{}, HoldIsExpired
	case HoldPaying:
		return Move{}, PaymentPending
	case HoldSold:
		return Move{}, AlreadyPaid
	case HoldPending:
		return Move{}, NoSuchHold
	default:
		return Move{}, HoldIsExpired
	}
}

// Settle takes over the gateway's word. What was paid stays paid, whatever is told afterwards.
func (b Books) Settle(settle Settlement) Move {
	if settle.State == AttemptPaid {
		return b.paid(settle)
	}
	if b.Attempt.State != AttemptOpen {
		return Move{}
	}
	move := Move{}
	switch {
	case b.Hold.State != HoldPaying:
	case b.Now.Before(b.Hold.ExpiresAt):
		move.Hold = HoldActive
	default:
		move = b.free(HoldExpired)
	}
	move.Attempt, move.Reason = settle.State, settle.Reason
	return move
}

// Apply is the books after a move, with the id of an order if it makes one.
func (b Books) Apply(move Move, order string) Books {
	b.Stock.Held += move.Held
	b.Stock.Sold += move.Sold
	b.Units += move.Units
	if move.Hold != "" {
		b.Hold.State = move.Hold
	}
	if move.Attempt != "" {
		b.Attempt.State, b.Attempt.Reason = move.Attempt, move.Reason
	}
	if move.Charge != "" {
		b.Attempt.Charge = move.Charge
	}
	if move.Order {
		b.Order = Order{
			ID: order, Hold: b.Hold.ID, Event: b.Hold.Event, Buyer: b.Hold.Buyer, Quantity: b.Hold.Quantity,
			Amount: b.Hold.Amount, Currency: b.Hold.Currency, Attempt: b.Attempt.ID, Charge: move.Charge, CreatedAt: b.Now,
		}
		b.Hold.Order = order
	}
	return b
}

// Settled is the answer of the books after a settlement's move.
func (b Books) Settled(move Move) Settled {
	settled := Settled{Hold: b.Hold, Attempt: b.Attempt, Changed: move.Attempt != ""}
	if b.Order.Attempt == b.Attempt.ID {
		settled.Order = b.Order
	}
	if move.Frees() {
		settled.Freed = &Ended{Hold: b.Hold.ID, Event: b.Hold.Event, Quantity: b.Hold.Quantity}
	}
	return settled
}

// paid sells the hold. One that has ended meanwhile gets its seats again where there are some left; else the money is
// to be given back.
func (b Books) paid(settle Settlement) Move {
	switch b.Attempt.State {
	case AttemptPaid, AttemptRefundDue, AttemptRefunded:
		return Move{}
	}
	units := b.Hold.Quantity
	sell := Move{Sold: units, Hold: HoldSold, Attempt: AttemptPaid, Charge: settle.Charge, Order: true}
	switch b.Hold.State {
	case HoldPending, HoldActive, HoldPaying:
		sell.Held = -units
		return sell
	case HoldReleased, HoldExpired:
		if Refuse(b.Stock, b.Units, units) == NotRefused {
			sell.Units = units
			return sell
		}
	}
	return Move{Attempt: AttemptRefundDue, Charge: settle.Charge}
}

func (b Books) free(end HoldState) Move {
	return Move{Held: -b.Hold.Quantity, Units: -b.Hold.Quantity, Hold: end}
}
