package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"testing"
	"time"
)

// customer buys from the embedded shop for as long as there is something left. It repeats what it gets no final answer
// to, with the same idempotency key, as an app should.
type customer struct {
	*testing.T
	client *http.Client
	base   string
	orders map[string]bool // whose payment was answered with 201
	serial int
}

// streets are the connections of all customers.
var streets = &http.Transport{MaxIdleConns: 4000, MaxIdleConnsPerHost: 4000, IdleConnTimeout: 20 * time.Second}

func newCustomer(t *testing.T, base string) *customer {
	jar, _ := cookiejar.New(nil) // fails only for a faulty public suffix list
	return &customer{
		T: t, base: base, orders: map[string]bool{},
		client: &http.Client{Jar: jar, Timeout: 10 * time.Second, Transport: streets},
	}
}

// patient waits between two tries; somebody in line for as long as he is told to.
func (c *customer) patient(ctx context.Context, last said) {
	pause := time.Duration(20+rand.IntN(200)) * time.Millisecond
	if told := last.Queue.PollAfter; told > 0 {
		pause = time.Duration(told) * time.Millisecond
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// said is what the shop said.
type said struct {
	status                    int
	Type, Hold, State, Order  string
	Sold, Held, Capacity, Max int64
	Remaining                 int64
	Queue                     struct {
		PollAfter int64 `json:"poll_after_ms"`
	}
}

// final sends a request until it has a final answer, or ctx ends: then the status is 0. A 202 is final too.
func (c *customer) final(ctx context.Context, method, path, body string) (s said) {
	c.serial++
	key := fmt.Sprintf("key %d", c.serial)
	for ctx.Err() == nil {
		s = c.once(ctx, method, path, body, key)
		if s.status != 0 && s.status != http.StatusTooManyRequests && s.status < 500 && s.Type != "urn:foyer:request-in-progress" {
			return s
		}
		c.patient(ctx, s)
	}
	return said{}
}

// once sends a request; the status is 0 where no answer came.
func (c *customer) once(ctx context.Context, method, path, body, key string) (s said) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		c.Error(err)
		return said{}
	}
	if method == http.MethodPost {
		request.Header.Set("Idempotency-Key", key)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return said{}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return said{}
	}
	_ = json.Unmarshal(text, &s) // a 204 has no body
	s.status = answer.StatusCode
	return s
}

// shop buys until the event is sold out. Some carts are left standing, some given back, and the banks are as they are.
func (c *customer) shop(ctx context.Context) {
	for ctx.Err() == nil {
		c.patient(ctx, said{})
		if stock := c.final(ctx, http.MethodGet, "/api/events/final", ""); stock.status == 0 {
			return
		} else if stock.Remaining < 0 || stock.Sold+stock.Held+stock.Remaining != stock.Capacity {
			c.Errorf("stock %+v", stock)
		} else if stock.status == http.StatusOK && stock.Sold == stock.Capacity {
			return
		}
		made := c.final(ctx, http.MethodPost, "/api/events/final/holds", fmt.Sprintf(`{"quantity":%d}`, 1+rand.IntN(3)))
		switch {
		case made.status == http.StatusCreated, made.status == http.StatusAccepted:
			c.decide(ctx, "/api/holds/"+made.Hold)
		case made.Type == "urn:foyer:sold-out", made.status == 0: // carts that are left standing come back
		default:
			c.Errorf("hold: %+v", made)
		}
		c.final(ctx, http.MethodPost, "/_foyer/shop/leave", "")
	}
}

// decide does what people do with a full cart.
func (c *customer) decide(ctx context.Context, path string) {
	switch rand.IntN(12) {
	case 0: // leaves it standing
	case 1:
		if back := c.final(ctx, http.MethodDelete, path, ""); back.status != 0 && back.status != http.StatusNoContent {
			c.Errorf("give back: %+v", back)
		}
	default:
		c.pay(ctx, path)
	}
}

var cards = []string{"pm_card_visa", "pm_card_visa", "pm_card_visa", "pm_card_visa", "pm_card_visa", "pm_card_declined", "pm_card_3ds", "pm_card_timeout", "pm_card_error"}

// pay pays a hold with one card after another until it is paid or has ended.
func (c *customer) pay(ctx context.Context, path string) {
	for ctx.Err() == nil {
		paid := c.final(ctx, http.MethodPost, path+"/pay", fmt.Sprintf(`{"payment_method":%q}`, cards[rand.IntN(len(cards))]))
		switch paid.status {
		case http.StatusCreated:
			c.orders[paid.Order] = true
			return
		case http.StatusAccepted:
			if hold := c.settled(ctx, path); hold.State != "active" {
				return
			}
		case http.StatusPaymentRequired, 0:
		case http.StatusGone, http.StatusConflict: // ended, or another try of ours has paid it
			return
		case http.StatusNotFound:
			c.patient(ctx, said{}) // a hold that is pending, or has been refused
			if hold := c.final(ctx, http.MethodGet, path, ""); hold.State != "pending" && hold.State != "refused" {
				c.Errorf("pay %+v, hold %+v", paid, hold)
				return
			} else if hold.State == "refused" {
				return
			}
		default:
			c.Errorf("pay: %+v", paid)
			return
		}
	}
}

// settled waits for a payment whose outcome is not known.
func (c *customer) settled(ctx context.Context, path string) said {
	for ctx.Err() == nil {
		hold := c.final(ctx, http.MethodGet, path, "")
		if hold.State != "paying" {
			return hold
		}
		c.patient(ctx, said{})
	}
	return said{}
}
