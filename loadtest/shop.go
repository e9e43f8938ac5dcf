package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Stock is what the shop says of an event.
type Stock struct {
	Capacity  int64 `json:"capacity"`
	Sold      int64 `json:"sold"`
	Held      int64 `json:"held"`
	Remaining int64 `json:"remaining"`
}

// Held is the shop's answer to a request for a hold.
type Held struct {
	ID      string // the hold
	Refusal string // or the problem type that says why not
	Waiting bool   // or the gate's waiting answer
}

// Paid is its answer to a payment.
type Paid struct {
	Order    string        // the order
	Charge   string        // the gateway's charge
	Again    time.Duration // or: not known yet, ask again after this
	Refusal  string        // or the problem type that says why not
	Replayed bool          // the answer is the stored one of an earlier request with the same key
	Waiting  bool          // or the gate's waiting answer: the slot has gone
}

// Stock asks what is left of an event.
func (v *Visitor) Stock(ctx context.Context, event string) (Stock, error) {
	got, err := v.send(ctx, http.MethodGet, "/api/events/"+event, nil, nil)
	if err != nil {
		return Stock{}, err
	}
	var stock Stock
	if got.code != http.StatusOK {
		return stock, fmt.Errorf("ask for the stock of %s: status %d", event, got.code)
	}
	if err := json.Unmarshal(got.body, &stock); err != nil {
		return stock, fmt.Errorf("read the stock of %s: %w", event, err)
	}
	return stock, nil
}

// Hold asks for units of an event. A pending hold is asked for until it is decided.
func (v *Visitor) Hold(ctx context.Context, event string, quantity int) (Held, error) {
	got, err := v.send(ctx, http.MethodPost, "/api/events/"+event+"/holds", nil, map[string]int{"quantity": quantity})
	for {
		if err != nil {
			return Held{}, err
		}
		hold, held, err := got.hold()
		if err != nil || hold.State != "pending" {
			return held, err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return Held{}, err
		}
		if got, err = v.send(ctx, http.MethodGet, "/api/holds/"+hold.Hold, nil, nil); err != nil {
			return Held{}, err
		}
	}
}

// holdObject is a hold on the wire.
type holdObject struct {
	Hold   string `json:"hold"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// hold reads an answer about a hold.
func (a answer) hold() (holdObject, Held, error) {
	if name, _ := a.problem(); name != "" {
		wait, ofGate := gateProblems[name]
		if ofGate && wait {
			return holdObject{}, Held{Waiting: true}, nil
		}
		return holdObject{}, Held{Refusal: name}, nil
	}
	var hold holdObject
	if err := json.Unmarshal(a.body, &hold); err != nil || a.code >= 300 {
		return hold, Held{}, fmt.Errorf("read the hold: status %d", a.code)
	}
	if hold.State == "refused" {
		return hold, Held{Refusal: hold.Reason}, nil
	}
	return hold, Held{ID: hold.Hold}, nil
}

// Pay pays for a hold under an idempotency key.
func (v *Visitor) Pay(ctx context.Context, hold, method, key string) (Paid, error) {
	header := http.Header{"Idempotency-Key": {key}}
	got, err := v.send(ctx, http.MethodPost, "/api/holds/"+hold+"/pay", header, map[string]string{"payment_method": method})
	if err != nil {
		return Paid{}, err
	}
	paid := Paid{Replayed: got.header.Get("Idempotent-Replayed") == "true"}
	name, _ := got.problem()
	wait, ofGate := gateProblems[name]
	switch {
	case got.code == http.StatusAccepted, name == "payment-pending", name == "request-in-progress", got.code >= 500:
		paid.Again = got.retryAfter(300 * time.Millisecond)
		return paid, nil
	case ofGate && wait:
		paid.Waiting = true
		return paid, nil
	case name != "":
		paid.Refusal = name
		return paid, nil
	}
	var order struct{ Order, Charge string }
	if err := json.Unmarshal(got.body, &order); err != nil || got.code != http.StatusCreated {
		return paid, fmt.Errorf("pay for hold %s: status %d", hold, got.code)
	}
	paid.Order, paid.Charge = order.Order, order.Charge
	return paid, nil
}
