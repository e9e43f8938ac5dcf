package origin

import "time"

// Group is what a ledger has read, under the lock of the event's row, to decide on a group of requests for it.
type Group struct {
	Now   time.Time        // the ledger's clock, read after the lock
	Stock Stock            // zero where there is no such event
	Units map[string]int64 // by buyer, over all holds and orders; a buyer without any may be missing
	Known map[string]Hold  // those of the requested ids that are holds already
}

// Allocation is what comes of a group: an answer to each request, and what is to be written.
type Allocation struct {
	Replies []HoldReply // in the order of the requests
	Made    []Hold      // the new holds
	Held    int64       // units of all new holds together
	Units   map[string]int64
}

// Refuse tells why a buyer who has some units cannot have quantity more, NotRefused if he can. The limit goes first: it
// would not help to come back.
func Refuse(stock Stock, units, quantity int64) Refusal {
	switch {
	case quantity > stock.MaxPerBuyer-units:
		return LimitExceeded
	case quantity > stock.Remaining():
		return SoldOut
	default:
		return NotRefused
	}
}

// Allocate decides on the requests one after the other, in their order, each whole or not at all: one that is refused
// takes nothing from those after it. An id that is known, from before or from earlier in the group, is answered with its
// hold as it stands.
func (g Group) Allocate(requests []HoldRequest) Allocation {
	out := Allocation{Replies: make([]HoldReply, len(requests)), Units: make(map[string]int64, len(requests))}
	made := make(map[string]Hold, len(requests))
	for i, request := range requests {
		hold, known := g.Known[request.ID]
		if !known {
			hold, known = made[request.ID]
		}
		if known {
			out.Replies[i] = HoldReply{Hold: hold, Refusal: hold.Reason}
			continue
		}
		out.Replies[i] = g.take(&out, request)
		if out.Replies[i].Refusal == NotRefused {
			made[request.ID] = out.Replies[i].Hold
		}
	}
	return out
}

func (g Group) take(out *Allocation, request HoldRequest) HoldReply {
	if g.Stock.ID == "" {
		return HoldReply{Refusal: NoSuchEvent}
	}
	stock := g.Stock
	stock.Held += out.Held
	units := g.Units[request.Buyer] + out.Units[request.Buyer]
	if refusal := Refuse(stock, units, request.Quantity); refusal != NotRefused {
		return HoldReply{Refusal: refusal}
	}
	hold := NewHold(stock.Event, request, g.Now)
	out.Held += hold.Quantity
	out.Units[hold.Buyer] += hold.Quantity
	out.Made = append(out.Made, hold)
	return HoldReply{Hold: hold}
}

// NewHold is the active hold that a request makes at a moment of the ledger's clock.
func NewHold(event Event, request HoldRequest, now time.Time) Hold {
	return Hold{
		ID: request.ID, Event: event.ID, Buyer: request.Buyer, Quantity: request.Quantity,
		Amount: request.Quantity * event.Amount, Currency: event.Currency, State: HoldActive,
		CreatedAt: now, ExpiresAt: now.Add(request.TTL).Truncate(time.Microsecond),
	}
}
