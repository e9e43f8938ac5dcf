package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"foyer/internal/services"
)

var (
	saleKills  = flag.Int("sale-kills", 5, "how often foyer is killed in TestSale_SurvivesKillsAtRandom")
	salePace   = flag.Duration("sale-pace", 450*time.Millisecond, "how long it lives between two kills, on an average")
	saleBuyers = flag.Int("sale-buyers", 80, "how many buyers come")
	saleGate   = flag.Int("sale-gate", 0, "how many of them are let in at once; 0: all of them")
)

// crashSale is a sale whose ledger, counter and payment gateway outlive the process that sells.
const crashSale = `
server: {listen: %q, admin: "127.0.0.1:0", timeouts: {drain: 1s}}
store: {%s, state_file: foyer.state}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - {name: shop, upstream: origin, %s, session: {idle: 1s, claim: 1s}, queue: {poll: {min: 500ms, max: 5s}}}
origin:
  strategy: %s
  hold_ttl: 3s
  reap_every: 500ms
  reconcile_every: 1s
  payment: {provider: simulator, simulator: {url: %q}, timeout: 1s, settle: 4s}
  events:
    - {id: final, name: Final, capacity: 650, price: {amount: 100, currency: eur}, max_per_buyer: 650}
`

// Shows 2 of the sale: foyer is killed again and again while it sells. Whoever was told of an order has it, every charge
// is an order or was given back, and nothing is stuck. The flags make it as large as one likes.
func TestSale_SurvivesKillsAtRandom(t *testing.T) {
	gate := "capacity: 50, mode: off"
	if *saleGate > 0 {
		gate = fmt.Sprintf("capacity: %d", *saleGate)
	}
	for _, c := range []struct {
		name, strategy, store string
		lives                 float64 // in salePace
	}{
		{"group_commit on SQLite", "group_commit", "sqlite: sale.db", 1},
		{"group_commit on Postgres", "group_commit", fmt.Sprintf("postgres: %q", services.Postgres(t)), 1},
		// A line that outlives the process is served on without a pause, so the sale is over sooner.
		{"atomic_redis", "atomic_redis", fmt.Sprintf("postgres: %q, redis: %q", services.Postgres(t), services.PrivateRedis(t).URL()), 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			edge := fmt.Sprintf("127.0.0.1:%d", services.FreePort(t))
			bank := startSimulator(t, "http://"+edge+"/webhooks/simulator")
			folder, configuration := t.TempDir(), fmt.Sprintf(crashSale, edge, c.store, gate, c.strategy, bank)
			s := serveIn(t, folder, configuration)
			ctx, closing := context.WithCancel(t.Context())
			defer closing()
			customers := make([]*customer, *saleBuyers)
			var crowd sync.WaitGroup
			for i := range customers {
				customers[i] = newCustomer(t, "http://"+edge)
				crowd.Go(func() { customers[i].shop(ctx) })
			}
			begun, midway := time.Now(), 0 // kills before the last was sold
			for range *saleKills {
				<-time.After(time.Duration((0.4 + 1.2*rand.Float64()) * c.lives * float64(*salePace)))
				if !soldOut(t, s) {
					midway++
				}
				s.Kill(t)
				s = serveIn(t, folder, configuration)
			}
			eventually(t, 90*time.Second, "the last is sold", func() bool { return soldOut(t, s) })
			t.Logf("%d kills in mid-sale, sold out after %v", midway, time.Since(begun).Round(time.Second))
			closing()
			crowd.Wait()
			if midway < *saleKills/2 {
				t.Errorf("only %d kills in mid-sale", midway)
			}
			checkSale(t, s, bank, customers)
			s.Stop(t)
			if out, errs, code := foyerIn(t, folder, "reconcile", "--check", "--config", "foyer.yaml"); code != 0 {
				t.Errorf("the ledger is not sound: %s%s", out, errs)
			}
		})
	}
}

// soldOut looks, past the gate, whether everything is sold.
func soldOut(t *testing.T, s *server) bool {
	var books struct{ Capacity, Sold int64 }
	read(t, s.Admin+"/api/events/final/ledger", &books)
	return books.Sold == books.Capacity
}

// checkSale waits for the resolver's bound and compares the books of shop, gateway and customers.
func checkSale(t *testing.T, s *server, bank string, customers []*customer) {
	t.Helper()
	var books struct {
		Capacity, Sold, Held, Remaining, Orders, Drift int64
		ChargesCaptured                                int64 `json:"charges_captured"`
		ChargesRefunded                                int64 `json:"charges_refunded"`
		Holds                                          struct{ Active, Paying, Pending int64 }
		Stream                                         struct{ Pending int64 }
	}
	var gateway struct{ Charges, Refunds, Captured, Refunded int64 }
	eventually(t, 20*time.Second, "nothing is held, pending or unrefunded any more", func() bool {
		read(t, s.Admin+"/api/events/final/ledger", &books)
		read(t, bank+"/_simulator/charges", &gateway)
		return books.Held == 0 && books.Holds.Paying == 0 && books.Holds.Pending == 0 && books.Stream.Pending == 0 &&
			books.Drift == 0 && gateway.Charges-gateway.Refunds == books.Orders
	})
	if books.Sold != 650 || books.Sold+books.Held+books.Remaining != books.Capacity {
		t.Errorf("books %+v", books)
	}
	if gateway.Captured-gateway.Refunded != 100*books.Sold || books.ChargesCaptured-books.ChargesRefunded != books.Orders {
		t.Errorf("gateway %+v, books %+v", gateway, books)
	}
	told := 0
	for _, c := range customers {
		for order := range c.orders {
			told++
			if got := c.once(t.Context(), http.MethodGet, "/api/orders/"+order, "", ""); got.status != http.StatusOK || got.State != "paid" {
				t.Errorf("the order of somebody who was told so: %+v", got)
			}
		}
	}
	if told == 0 || int64(told) > books.Orders {
		t.Errorf("%d orders told, %d made", told, books.Orders)
	}
	t.Logf("%d orders, %d told at once; %d charges, %d refunds", books.Orders, told, gateway.Charges, gateway.Refunds)
}

// read reads JSON.
func read(t *testing.T, url string, into any) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("read %s: %v: %s", url, err, text)
	}
}

// startSimulator runs the payment gateway in a process of its own, and answers with its URL.
func startSimulator(t *testing.T, webhooks string) string {
	t.Helper()
	cmd := exec.Command(binary, "simulator", "--listen", "127.0.0.1:0", "--webhook-url", webhooks)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			if found := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text()); found != "" {
				select {
				case url <- found:
				default:
				}
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	select {
	case found := <-url:
		return found
	case <-time.After(20 * time.Second):
		t.Fatal("the simulator does not listen")
		return ""
	}
}
