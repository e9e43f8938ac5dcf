package storetest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"foyer/origin"
)

// LedgerModel lets rapid drive a ledger and a model of it in memory through the same random steps, and wants the same
// answers and, after every step, a sound ledger that counts what the model counts. open returns an empty ledger for each
// run.
func LedgerModel(t *testing.T, open func(t *testing.T) LedgerStore) {
	rapid.Check(t, func(r *rapid.T) {
		l := open(t)
		m := &ledgerModel{t: t, l: l, holds: map[string]*modelHold{}, units: map[string]int64{}}
		m.stock = event(t, l, "e", int64(rapid.IntRange(0, 6).Draw(r, "capacity")), 3)
		r.Repeat(map[string]func(*rapid.T){
			"hold": m.hold, "release": m.release, "expire": m.expire, "pay": m.pay, "settle": m.settle, "resize": m.resize, "": m.check,
		})
	})
}

// ledgerModel is a ledger with one event, as simple as can be.
type ledgerModel struct {
	t     *testing.T
	l     LedgerStore
	stock origin.Stock
	holds map[string]*modelHold
	ids   []string
	units map[string]int64
	paid  int64 // orders
}

type modelHold struct {
	buyer    string
	quantity int64
	state    origin.HoldState
	attempts []origin.AttemptState
}

// draw names a hold that there is, or one that there is not.
func (m *ledgerModel) draw(r *rapid.T) (string, *modelHold) {
	if len(m.ids) == 0 {
		return "none", nil
	}
	id := rapid.SampledFrom(append([]string{"none"}, m.ids...)).Draw(r, "hold")
	return id, m.holds[id]
}

func (m *ledgerModel) hold(r *rapid.T) {
	buyer := rapid.SampledFrom([]string{"anna", "bert", "cora"}).Draw(r, "buyer")
	quantity := int64(rapid.IntRange(1, 4).Draw(r, "quantity"))
	id := fmt.Sprint("h", len(m.ids))
	want := origin.Refuse(m.stock, m.units[buyer], quantity)
	replies, err := m.l.HoldGroup(m.t.Context(), "e", []origin.HoldRequest{request(id, "e", buyer, quantity)})
	if err != nil || replies[0].Refusal != want {
		r.Fatalf("hold %d for %s: %+v %v, want %q", quantity, buyer, replies, err, want)
	}
	if want == origin.NotRefused {
		m.ids = append(m.ids, id)
		m.holds[id] = &modelHold{buyer: buyer, quantity: quantity, state: origin.HoldActive}
		m.move(m.holds[id], origin.HoldActive, quantity, 0)
	}
}

// move is the whole of the bookkeeping.
func (m *ledgerModel) move(h *modelHold, state origin.HoldState, held, sold int64) {
	h.state = state
	m.stock.Held += held
	m.stock.Sold += sold
	m.units[h.buyer] += held + sold
}

func (m *ledgerModel) release(r *rapid.T) {
	id, h := m.draw(r)
	buyer := "nobody"
	if h != nil {
		buyer = h.buyer
	}
	_, freed, refusal, err := m.l.Release(m.t.Context(), id, buyer)
	wantFreed := h != nil && h.state == origin.HoldActive
	if err != nil || freed != wantFreed || (h == nil) != (refusal == origin.NoSuchHold) {
		r.Fatalf("release %s: freed %v, %q, %v", id, freed, refusal, err)
	}
	if wantFreed {
		m.move(h, origin.HoldReleased, -h.quantity, 0)
	}
}

func (m *ledgerModel) expire(r *rapid.T) {
	id, h := m.draw(r)
	if h == nil || h.state == origin.HoldPaying {
		return
	}
	overdue(m.t, m.l, id)
	ended, err := m.l.Expire(m.t.Context(), 10)
	lapsed := h.state == origin.HoldActive
	if err != nil || (len(ended) == 1) != lapsed {
		r.Fatalf("expire %s: %+v %v", id, ended, err)
	}
	if lapsed {
		m.move(h, origin.HoldExpired, -h.quantity, 0)
	}
}

func (m *ledgerModel) pay(r *rapid.T) {
	id, h := m.draw(r)
	if h == nil {
		return
	}
	attempt := fmt.Sprintf("%s-%d", id, len(h.attempts))
	reply, err := m.l.StartPayment(m.t.Context(), origin.PaymentStart{Attempt: attempt, Hold: id, Buyer: h.buyer, Method: "m"})
	begun := h.state == origin.HoldActive
	if err != nil || (reply.Refusal == origin.NotRefused) != begun {
		r.Fatalf("pay %s in %s: %+v %v", id, h.state, reply, err)
	}
	if begun {
		h.state = origin.HoldPaying
		h.attempts = append(h.attempts, origin.AttemptOpen)
	}
}

func (m *ledgerModel) settle(r *rapid.T) {
	id, h := m.draw(r)
	if h == nil || len(h.attempts) == 0 {
		return
	}
	n := rapid.IntRange(0, len(h.attempts)-1).Draw(r, "attempt")
	word := rapid.SampledFrom([]origin.AttemptState{origin.AttemptPaid, origin.AttemptDeclined, origin.AttemptCanceled}).Draw(r, "word")
	settled := settle(m.t, m.l, fmt.Sprintf("%s-%d", id, n), word)
	m.settled(h, n, word)
	if settled.Attempt.State != h.attempts[n] || settled.Hold.State != h.state {
		r.Fatalf("settle %s-%d %s: %+v, want %s and %s", id, n, word, settled, h.attempts[n], h.state)
	}
}

// settled says what a word does. No hold of the model is overdue while it is paying.
func (m *ledgerModel) settled(h *modelHold, n int, word origin.AttemptState) {
	was := h.attempts[n]
	switch {
	case was == origin.AttemptPaid || was == origin.AttemptRefundDue:
	case word != origin.AttemptPaid:
		if was == origin.AttemptOpen {
			h.attempts[n] = word
			if h.state == origin.HoldPaying {
				h.state = origin.HoldActive
			}
		}
	case h.state == origin.HoldPaying || h.state == origin.HoldActive:
		h.attempts[n] = word
		m.paid++
		m.move(h, origin.HoldSold, -h.quantity, h.quantity)
	case h.state != origin.HoldSold && origin.Refuse(m.stock, m.units[h.buyer], h.quantity) == origin.NotRefused:
		h.attempts[n] = word
		m.paid++
		m.move(h, origin.HoldSold, 0, h.quantity)
	default:
		h.attempts[n] = origin.AttemptRefundDue
	}
}

func (m *ledgerModel) resize(r *rapid.T) {
	capacity := int64(rapid.IntRange(0, 12).Draw(r, "capacity"))
	_, refusal, err := m.l.Resize(m.t.Context(), "e", capacity)
	fits := capacity >= m.stock.Held+m.stock.Sold
	if err != nil || (refusal == origin.NotRefused) != fits {
		r.Fatalf("resize to %d: %q %v", capacity, refusal, err)
	}
	if fits {
		m.stock.Capacity = capacity
	}
}

// check is what must hold after every step.
func (m *ledgerModel) check(r *rapid.T) {
	audit, _, err := m.l.Audit(m.t.Context(), "e")
	if err != nil || audit.Held != m.stock.Held || audit.Sold != m.stock.Sold || audit.Capacity != m.stock.Capacity || audit.Orders != m.paid {
		r.Fatalf("%+v %v, the model has %+v and %d orders", audit, err, m.stock, m.paid)
	}
	findings, err := m.l.Check(m.t.Context(), time.Hour)
	if err != nil || len(findings) > 0 {
		r.Fatalf("not sound: %+v %v", findings, err)
	}
}
