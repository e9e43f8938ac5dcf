package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"foyer/internal/services"
)

// saleYAML is a shop behind a gate; what is to be filled in are the store, the gate's own keys and the strategy.
const saleYAML = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {%s, state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - {name: shop, upstream: origin, %s, session: {idle: 1m, claim: 5s}, queue: {poll: {min: 200ms, max: 1s}}}
origin:
  strategy: %s
  events:
    - {id: final, name: Final, capacity: 10, price: {amount: 12000, currency: eur}}
`

// overShops runs a test over a shop on SQLite and one on Postgres and Redis.
func overShops(t *testing.T, gate string, test func(t *testing.T, a *app)) {
	for _, c := range []struct{ name, strategy, store string }{
		{"SQLite", "group_commit", `sqlite: ":memory:"`},
		{"Postgres and Redis", "atomic_redis", fmt.Sprintf("postgres: %q, redis: %q", services.Postgres(t), services.PrivateRedis(t).URL())},
	} {
		t.Run(c.name, func(t *testing.T) { test(t, startApp(t, fmt.Sprintf(saleYAML, c.store, gate, c.strategy))) })
	}
}

// until asks again and again for what is to come about.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came about: %s", what)
		}
	}
}

// E13: the answer to a payment is lost and the slot is somebody else's, with a long line before the gate. The payment is
// repeated and the receipt is read without a slot; another hold waits like everybody.
func TestShop_WhoHasPaidDoesNotQueueForTheReceipt(t *testing.T) {
	overShops(t, "capacity: 1", func(t *testing.T, a *app) {
		const line = 30
		buyer, next, operator := newVisitor(t, a.Edge), newVisitor(t, a.Edge), newVisitor(t, a.Admin)
		status, hold := buyer.insist(http.MethodPost, "/api/events/final/holds", `{"quantity":1}`)
		if status != http.StatusCreated && status != http.StatusAccepted {
			t.Fatalf("the first hold: %d %v", status, hold)
		}
		pay := "/api/holds/" + hold["hold"].(string) + "/pay"
		waits := func(v *visitor) bool { // or is inside
			status, _ := v.insist(http.MethodGet, "/api/events/final", "")
			return status != http.StatusOK
		}
		for i := range line {
			one := next
			if i > 0 {
				one = newVisitor(t, a.Edge)
			}
			if !waits(one) {
				t.Fatal("somebody comes in beside the buyer")
			}
		}
		hangUp := buyer.send(pay, `{"payment_method":"pm_card_visa"}`)
		until(t, "the order is made", func() bool {
			_, ledger := operator.ask(http.MethodGet, "/api/events/final/ledger", "")
			return ledger["orders"] == 1.0
		})
		hangUp()
		until(t, "the slot is somebody else's", func() bool { return !waits(next) })

		status, order := buyer.ask(http.MethodPost, pay, `{"payment_method":"pm_card_visa"}`)
		if status != http.StatusCreated || order["state"] != "paid" {
			t.Fatalf("the payment, repeated: %d %v", status, order)
		}
		receipt := "/api/orders/" + order["order"].(string)
		if status, body := buyer.ask(http.MethodGet, receipt, ""); status != http.StatusOK || body["charge"] != order["charge"] {
			t.Errorf("the order: %d %v", status, body)
		}
		if page := buyer.browse(receipt); !strings.Contains(page, order["order"].(string)) {
			t.Errorf("the receipt: %s", page)
		}
		status, body := buyer.insist(http.MethodPost, "/api/events/final/holds?again", `{"quantity":1}`)
		if queue, _ := body["queue"].(map[string]any); status != http.StatusTooManyRequests || queue["state"] != "waiting" {
			t.Errorf("another hold: %d %v", status, body)
		}
		_, ledger := operator.ask(http.MethodGet, "/api/events/final/ledger", "")
		if ledger["orders"] != 1.0 || ledger["charges_captured"] != 1.0 || waits(next) {
			t.Errorf("ledger %v, and whoever came next must still be inside", ledger)
		}
	})
}

// insist makes a call until the gate answers it: a busy machine may take Redis for dead.
func (v *visitor) insist(method, path, body string) (status int, got map[string]any) {
	v.Helper()
	until(v.T, "an answer of the gate", func() bool {
		status, got = v.ask(method, path, body)
		return status != http.StatusServiceUnavailable
	})
	return status, got
}

// send makes a call with the cookies that the visitor has, and leaves its answer unread until the connection is closed.
func (v *visitor) send(path, body string) (hangUp func()) {
	v.Helper()
	base, err := url.Parse(v.base)
	if err != nil {
		v.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, v.base+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", "key of "+path)
	for _, cookie := range v.client.Jar.Cookies(base) {
		request.AddCookie(cookie)
	}
	conn, err := net.Dial("tcp", base.Host)
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { conn.Close() })
	if err := request.Write(conn); err != nil {
		v.Fatal(err)
	}
	return func() { conn.Close() }
}

// browse opens a page as a browser does.
func (v *visitor) browse(path string) string {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), http.MethodGet, v.base+path, nil)
	if err != nil {
		v.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Sec-Fetch-Mode", "navigate")
	answer, err := v.client.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		v.Errorf("%s: %d, %v", path, answer.StatusCode, err)
	}
	return string(text)
}

// E12: the capacity is raised while the sale goes on, and the new one is sold; below what is taken it is not lowered.
func TestShop_SellsACapacityRaisedInMidSale(t *testing.T) {
	overShops(t, "capacity: 50, mode: off", func(t *testing.T, a *app) {
		const buyers, raised = 32, 25
		operator := newVisitor(t, a.Admin)
		sold := func(v *visitor) float64 {
			_, ledger := v.ask(http.MethodGet, "/api/events/final/ledger", "")
			return ledger["sold"].(float64)
		}
		var crowd sync.WaitGroup
		for range buyers {
			buyer, books := newVisitor(t, a.Edge), newVisitor(t, a.Admin)
			crowd.Go(func() {
				for try := 0; sold(books) < raised; try++ {
					status, hold := buyer.ask(http.MethodPost, fmt.Sprint("/api/events/final/holds?", try), `{"quantity":1}`)
					if status != http.StatusCreated {
						<-time.After(200 * time.Millisecond)
						continue
					}
					if status, body := buyer.ask(http.MethodPost, "/api/holds/"+hold["hold"].(string)+"/pay", `{"payment_method":"pm_card_visa"}`); status != http.StatusCreated {
						t.Errorf("pay: %d %v", status, body)
					}
					return
				}
			})
		}
		until(t, "some are sold", func() bool { return sold(operator) >= 5 })
		if status, body := operator.ask(http.MethodPatch, "/api/events/final", `{"capacity":4}`); status != http.StatusConflict || body["type"] != "urn:foyer:capacity-in-use" {
			t.Errorf("lowered below what is taken: %d %v", status, body)
		}
		if status, body := operator.ask(http.MethodPatch, "/api/events/final", fmt.Sprintf(`{"capacity":%d}`, raised)); status != http.StatusOK {
			t.Errorf("raised: %d %v", status, body)
		}
		crowd.Wait()
		until(t, "the books are even", func() bool {
			_, ledger := operator.ask(http.MethodGet, "/api/events/final/ledger", "")
			return ledger["drift"] == 0.0
		})
		_, ledger := operator.ask(http.MethodGet, "/api/events/final/ledger", "")
		if ledger["sold"] != float64(raised) || ledger["orders"] != float64(raised) || ledger["remaining"] != 0.0 {
			t.Errorf("ledger %v", ledger)
		}
	})
}
