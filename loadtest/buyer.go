package loadtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// End is how a buyer's visit ended.
type End string

// The ends of a visit.
const (
	Bought     End = "bought"
	GaveUp     End = "gave up"       // in line, after Plan.Patience
	LeftUnpaid End = "left unpaid"   // with a hold, which expires later
	Vanished   End = "vanished"      // from inside, without a word
	Looked     End = "looked around" // and left, as meant
	SoldOut    End = "sold out"
	Declined   End = "declined"
	Refused    End = "refused" // the gate was closed or full
	Failed     End = "failed"  // something broke; see Outcome.Err
)

// Fate is what a buyer does once inside.
type Fate int

// The fates. Buys is the zero value.
const (
	Buys        Fate = iota // holds and pays
	WalksAway               // holds, never pays, and says so to the gate
	VanishesNow             // looks and is never seen again: his slot idles out
	JustLooks               // looks, stays for Think, and leaves
)

// Plan is what a buyer means to do.
type Plan struct {
	Event    string
	Quantity int
	Method   string        // payment method; "" is pm_card_visa
	Patience time.Duration // in line; negative: without end
	Think    time.Duration // between two steps inside
	Fate     Fate
	// Persist is how long the buyer stays, once inside, after being told that all is sold, while part of it is only held
	// by others: it may come back.
	Persist time.Duration
}

// Outcome is what came of it.
type Outcome struct {
	End    End
	Waited time.Duration // from the arrival to being inside, or to the end without
	Order  string        // the order that was paid
	Err    error         // with Failed
}

// Buyer is a visitor with a plan, as a state machine: each step does one thing and names the next.
type Buyer struct {
	*Visitor
	plan    Plan
	hold    string
	outcome Outcome
}

// step is one station of a visit; nil ends it.
type step func(context.Context) step

// NewBuyer makes a buyer who has not arrived yet.
func NewBuyer(site Site, plan Plan) *Buyer {
	if plan.Method == "" {
		plan.Method = "pm_card_visa"
	}
	return &Buyer{Visitor: NewVisitor(site), plan: plan}
}

// Run walks the buyer through the whole visit.
func (b *Buyer) Run(ctx context.Context) Outcome {
	for next := b.arrive; next != nil; {
		next = next(ctx)
	}
	return b.outcome
}

// arrive waits in line until inside.
func (b *Buyer) arrive(ctx context.Context) step {
	started := time.Now()
	place, err := b.Enter(ctx, b.plan.Patience)
	b.outcome.Waited = time.Since(started)
	switch {
	case err != nil:
		return b.fail(err)
	case place.Refused == "sold-out":
		return b.end(SoldOut)
	case place.Refused != "":
		return b.end(Refused)
	case !place.Inside:
		if err := b.Leave(ctx); err != nil {
			return b.fail(err)
		}
		return b.end(GaveUp)
	case place.Code >= 400:
		return b.fail(fmt.Errorf("ask for %s: status %d from the origin", b.site.Entry, place.Code))
	}
	return b.look
}

// look is the time between seeing the shop and deciding.
func (b *Buyer) look(ctx context.Context) step {
	if b.plan.Fate == VanishesNow {
		return b.end(Vanished)
	}
	if err := pause(ctx, b.plan.Think); err != nil {
		return b.fail(err)
	}
	if b.plan.Fate == JustLooks {
		return b.goodbye(ctx, Looked)
	}
	return b.take
}

// take asks for a hold, again and again while others may still give theirs back.
func (b *Buyer) take(ctx context.Context) step {
	deadline := time.Now().Add(b.plan.Persist)
	for {
		held, err := b.Hold(ctx, b.plan.Event, b.plan.Quantity)
		switch {
		case err != nil:
			return b.fail(err)
		case held.Waiting:
			return b.arrive // the slot has gone meanwhile
		case held.ID != "":
			b.hold = held.ID
			return b.ponder
		case held.Refusal != "sold-out":
			return b.fail(fmt.Errorf("hold %d of %s: %s", b.plan.Quantity, b.plan.Event, held.Refusal))
		case time.Now().After(deadline):
			return b.goodbye(ctx, SoldOut)
		}
		stock, err := b.Stock(ctx, b.plan.Event)
		switch {
		case err != nil:
			return b.fail(err)
		case stock.Sold >= stock.Capacity:
			return b.goodbye(ctx, SoldOut)
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return b.fail(err)
		}
	}
}

// ponder is the time between the hold and the payment.
func (b *Buyer) ponder(ctx context.Context) step {
	if err := pause(ctx, b.plan.Think); err != nil {
		return b.fail(err)
	}
	if b.plan.Fate == WalksAway {
		return b.goodbye(ctx, LeftUnpaid)
	}
	return b.pay
}

// pay sends the payment, the same one again where its outcome is not known yet.
func (b *Buyer) pay(ctx context.Context) step {
	key := rand.Text()
	for {
		paid, err := b.Pay(ctx, b.hold, b.plan.Method, key)
		switch {
		case err != nil:
			return b.fail(err)
		case paid.Order != "":
			b.outcome.Order = paid.Order
			return b.receipt
		case paid.Waiting:
			if _, err := b.Enter(ctx, -1); err != nil {
				return b.fail(err)
			}
		case paid.Again > 0:
			if err := pause(ctx, paid.Again); err != nil {
				return b.fail(err)
			}
		case paid.Refusal == "declined":
			return b.goodbye(ctx, Declined)
		case paid.Refusal == "hold-expired":
			return b.take
		default:
			return b.fail(fmt.Errorf("pay for %s: %s", b.hold, paid.Refusal))
		}
	}
}

// receipt reads the order back: who has paid must see it without a slot.
func (b *Buyer) receipt(ctx context.Context) step {
	got, err := b.send(ctx, http.MethodGet, "/api/orders/"+b.outcome.Order, nil, nil)
	if err != nil {
		return b.fail(err)
	}
	var order struct{ Order string }
	if got.code != http.StatusOK || json.Unmarshal(got.body, &order) != nil || order.Order != b.outcome.Order {
		return b.fail(fmt.Errorf("read order %s: status %d", b.outcome.Order, got.code))
	}
	return b.end(Bought)
}

// goodbye gives the slot back and ends the visit.
func (b *Buyer) goodbye(ctx context.Context, end End) step {
	if err := b.Leave(ctx); err != nil {
		return b.fail(err)
	}
	return b.end(end)
}

func (b *Buyer) end(end End) step {
	b.outcome.End = end
	return nil
}

func (b *Buyer) fail(err error) step {
	b.outcome.Err = err
	return b.end(Failed)
}
