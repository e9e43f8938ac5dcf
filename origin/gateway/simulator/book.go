package simulator

import (
	"cmp"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// maxIntents is how many payments are remembered one by one.
const maxIntents = 100_000

// Stripe's words for how far a payment is.
const (
	statusNew      = "requires_confirmation"
	statusNoCard   = "requires_payment_method" // after a decline
	statusAction   = "requires_action"
	statusBusy     = "processing"
	statusPaid     = "succeeded"
	statusCanceled = "canceled"
)

// intent is one payment. It is copied in and out of the book.
type intent struct {
	ID, Method, Currency, Status string
	Charge                       string
	Code, Message                string // of the last decline
	Metadata                     map[string]string
	Amount, Refunded             int64
	Refunds                      int64
	Created                      time.Time
}

// ours is an id that the shop gave it: its clients write attempt or foyer_attempt, hold or foyer_hold.
func (i *intent) ours(name string) string { return cmp.Or(i.Metadata[name], i.Metadata["foyer_"+name]) }

// shape is the intent as JSON shows it.
func (i *intent) shape() map[string]any {
	shape := map[string]any{
		"id": i.ID, "object": "payment_intent", "amount": i.Amount, "currency": i.Currency, "status": i.Status,
		"payment_method": i.Method, "metadata": i.Metadata, "created": i.Created.Unix(),
		"latest_charge": nil, "last_payment_error": nil,
	}
	if i.Charge != "" {
		shape["latest_charge"] = i.Charge
	}
	if i.Status == statusAction {
		shape["client_secret"] = i.ID + "_secret"
	}
	if i.Code != "" {
		shape["last_payment_error"] = map[string]any{"type": "card_error", "code": i.Code, "message": i.Message}
	}
	return shape
}

// Totals is what was really charged and refunded, in counts and minor units.
type Totals struct {
	Charges  int64 `json:"charges"`
	Refunds  int64 `json:"refunds"`
	Captured int64 `json:"captured"`
	Refunded int64 `json:"refunded"`
}

// book is the gateway's own ledger.
type book struct {
	mu      sync.Mutex
	intents map[string]*intent
	order   []string // as they came; the oldest is forgotten first
	totals  Totals   // of all time
}

func newBook() *book { return &book{intents: make(map[string]*intent)} }

// add keeps a new payment.
func (b *book) add(i intent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) >= maxIntents {
		delete(b.intents, b.order[0])
		b.order = b.order[1:]
	}
	b.intents[i.ID] = &i
	b.order = append(b.order, i.ID)
}

// find reads a payment.
func (b *book) find(id string) (intent, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.intents[id]
	if found == nil {
		return intent{}, false
	}
	return *found, true
}

// move changes a payment's status if it is one of those in from, and answers with it as it then stands.
func (b *book) move(id, to string, from ...string) (now intent, moved, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.intents[id]
	if i == nil {
		return intent{}, false, false
	}
	for _, status := range from {
		if i.Status == status {
			b.enterLocked(i, to)
			return *i, true, true
		}
	}
	return *i, false, true
}

// enterLocked is the only place that charges.
func (b *book) enterLocked(i *intent, to string) {
	i.Status = to
	switch to {
	case statusPaid:
		i.Charge = newID("ch_")
		i.Code, i.Message = "", ""
		b.totals.Charges++
		b.totals.Captured += i.Amount
	case statusNoCard:
		i.Code, i.Message = "card_declined", "Your card was declined."
	}
}

// refund gives back what is left of a payment, or part of it; ok is false where there is not that much.
func (b *book) refund(id string, amount int64) (now intent, ok, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.intents[id]
	if i == nil {
		return intent{}, false, false
	}
	left := i.Amount - i.Refunded
	if amount == 0 {
		amount = left
	}
	if i.Status != statusPaid || amount <= 0 || amount > left {
		return *i, false, true
	}
	i.Refunded += amount
	i.Refunds++
	b.totals.Refunds++
	b.totals.Refunded += amount
	return *i, true, true
}

// list returns the payments that are asked for, oldest first, and their totals.
func (b *book) list(hold, attempt string) ([]intent, Totals) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []intent
	var totals Totals
	for _, id := range b.order {
		i := b.intents[id]
		if hold != "" && i.ours("hold") != hold || attempt != "" && i.ours("attempt") != attempt {
			continue
		}
		list = append(list, *i)
		if i.Charge != "" {
			totals.Charges++
			totals.Captured += i.Amount
		}
		totals.Refunds += i.Refunds
		totals.Refunded += i.Refunded
	}
	if hold == "" && attempt == "" {
		totals = b.totals
	}
	return list, totals
}

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
