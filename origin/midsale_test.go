package origin_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
	"foyer/store/strategy"
)

// midSale is a sale whose database is stopped while buyers hold and pay.
type midSale struct {
	*house
	ledger strategy.WholeLedger
	chosen origin.Strategy
	next   atomic.Int64
	orders atomic.Int64

	mu   sync.Mutex
	told map[string]told // by hold
}

// told is what a buyer was answered.
type told struct{ buyer, order string }

const (
	midSaleCapacity = 60
	midSaleBuyers   = 120
	midSaleAtOnce   = 16
)

// TestSale_LosesNothingWhenTheDatabaseIsStoppedInMidSale stops PostgreSQL at once (pg_ctl stop -m immediate) while buyers hold
// and pay, and starts it again. No hold or order that was acknowledged is lost, the gateway keeps money for orders alone, and nothing
// is left unsettled. It is not run beside the others: four databases that start again leave little of the machine to them.
func TestSale_LosesNothingWhenTheDatabaseIsStoppedInMidSale(t *testing.T) {
	for _, name := range strategy.Names() {
		if name == strategy.Naive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := services.PrivatePostgres(t)
			m := newMidSale(t, name, server.URL())
			struck := make(chan struct{})
			go func() {
				defer close(struck)
				m.strike(server)
			}()
			m.sell()
			<-struck
			m.settled()
			m.verify()
		})
	}
}

func newMidSale(t *testing.T, name, url string) *midSale {
	t.Helper()
	store, err := pgstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	m := &midSale{ledger: store, told: map[string]told{}}
	m.house = open(t, store, withoutLoops, capacity(midSaleCapacity), timeout(3*time.Second),
		func(p *plan) { p.settings.Logger = zap.NewNop() }) // what cannot reach its ledger says so
	grouped := strategy.Grouped(store)
	settings := strategy.Settings{Ledger: grouped, Grace: time.Second}
	if name == strategy.AtomicRedis {
		url, prefix := services.Redis(t)
		settings.Redis, settings.Prefix = services.RedisClient(t, url, nil), prefix
	}
	if m.chosen, err = strategy.New(name, settings); err != nil {
		t.Fatal(err)
	}
	shop := m.settings
	shop.Ledger, shop.Strategy = grouped, m.chosen
	m.use(m.front(shop, true))
	return m
}

// strike stops the database when a third is sold.
func (m *midSale) strike(server *services.PostgresServer) {
	for m.orders.Load() < midSaleCapacity/3 && m.next.Load() < midSaleBuyers {
		_ = pause(context.Background(), time.Millisecond)
	}
	if err := server.Abort(); err != nil {
		m.Error(err)
	}
	if err := server.Restart(); err != nil {
		m.Error(err)
	}
}

// sell lets all buyers come, some at once. Every eighth does not insist on an answer to his payment, and of every tenth the
// gateway takes the money and says nothing.
func (m *midSale) sell() {
	var wg sync.WaitGroup
	for range midSaleAtOnce {
		wg.Go(func() {
			for n := m.next.Add(1); n <= midSaleBuyers; n = m.next.Add(1) {
				m.buy(n)
			}
		})
	}
	wg.Wait()
}

func (m *midSale) buy(n int64) {
	buyer, card := fmt.Sprint("buyer ", n), "pm_card_visa"
	if n%10 == 0 {
		card = "pm_card_timeout"
	}
	made := m.insist(buyer, "/api/events/final/holds", `{"quantity":1}`, true)
	hold := made.text("hold")
	if made.status != http.StatusCreated && made.status != http.StatusConflict {
		m.Errorf("%s: hold: %v", buyer, made)
	}
	if made.status != http.StatusCreated {
		return
	}
	m.note(hold, told{buyer: buyer})
	paid := m.insist(buyer, "/api/holds/"+hold+"/pay", `{"payment_method":"`+card+`"}`, n%8 != 0)
	if paid.status == http.StatusCreated {
		m.note(hold, told{buyer, paid.text("order")})
		m.orders.Add(1)
	}
}

func (m *midSale) note(hold string, what told) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[hold] = what
}

// insist asks, under one key, until there is an answer that is final, or once.
func (m *midSale) insist(buyer, path, body string, again bool) (got answer) {
	for deadline := time.Now().Add(patienceOfClient); ; {
		var err error
		got, err = m.try(m.Context(), m.shop.url, buyer, "POST", path, body, "Idempotency-Key", "key of "+path[len(path)-4:])
		final := err == nil && got.status < 500 && got.status != http.StatusAccepted && got.kind() != "request-in-progress"
		if final || !again || time.Now().After(deadline) {
			return got
		}
		_ = pause(m.Context(), 250*time.Millisecond)
	}
}

// settled waits until no payment is unsettled, no take pending, and the counter is what remains.
func (m *midSale) settled() {
	m.Helper()
	began := time.Now()
	eventually(m.T, func() bool {
		findings, err := m.ledger.Check(m.Context(), -time.Hour)
		if err != nil || len(findings) > 0 {
			return false
		}
		compared, err := m.chosen.Compare(m.Context(), finalEvent)
		return err == nil && compared.DriftBefore == 0 && compared.Pending == 0
	})
	m.Logf("%d orders told, %d holds; all was settled %v after the last buyer", m.orders.Load(), len(m.told), time.Since(began).Round(time.Millisecond))
}

func (m *midSale) verify() {
	m.Helper()
	m.balanced()
	audit, _, err := m.ledger.Audit(m.Context(), finalEvent)
	if err != nil || audit.SoldRows+audit.HeldRows+audit.Remaining() != midSaleCapacity || audit.Orders != audit.Sold {
		m.Errorf("%+v (%v)", audit, err)
	}
	for id, told := range m.told {
		hold, ok, err := m.ledger.Hold(m.Context(), id)
		if err != nil || !ok || hold.State != origin.HoldActive && hold.State != origin.HoldSold {
			m.Errorf("%s was acknowledged and is %+v (%v)", id, hold, err)
		}
		if told.order != "" && told.order != hold.Order {
			m.Errorf("%s: order %s was acknowledged and is %q", id, told.order, hold.Order)
		}
		charges := m.charges(id)
		if kept := charges.number("captured") - charges.number("refunded"); (kept == hold.Amount) != (hold.State == origin.HoldSold) || kept < 0 || kept > hold.Amount {
			m.Errorf("%s: the gateway kept %d of %d, and it is %s", id, kept, hold.Amount, hold.State)
		}
	}
}
