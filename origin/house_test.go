package origin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/origin/gateway/simulator"
	"foyer/store/pgstore"
	"foyer/store/sqlitestore"
	"foyer/store/strategy"
)

const (
	hookSecret = "whsec_test"
	finalEvent = "final"
)

// house is a shop with its ledger and its gateway, all of them real and reached over HTTP.
type house struct {
	*testing.T
	ledger    origin.Ledger
	gateway   origin.Gateway
	simulator string // URL of the gateway
	settings  origin.Settings
	client    *http.Client
	shop      *front
	hooked    atomic.Pointer[front] // what takes the webhooks: shop, for other goroutines
}

// front is one process of the shop.
type front struct {
	*origin.Shop
	url, admin string
}

// option changes a house before it opens.
type option func(*plan)

// plan is what a house is made from.
type plan struct {
	event    origin.Event
	settings origin.Settings
	webhooks bool      // the simulator sends them
	connect  connector // to the simulator; nil: its own client
	wrap     func(origin.Gateway) origin.Gateway
	idle     bool // without the loops in the background
}

func capacity(n int64) option { return func(p *plan) { p.event.Capacity = n } }
func ttl(d time.Duration) option {
	return func(p *plan) { p.settings.HoldTTL, p.settings.ReapEvery = d, 50*time.Millisecond }
}
func timeout(d time.Duration) option { return func(p *plan) { p.settings.Payment.Timeout = d } }
func settle(d time.Duration) option  { return func(p *plan) { p.settings.Payment.Settle = d } }
func withWebhooks(p *plan)           { p.webhooks = true }
func withoutLoops(p *plan)           { p.idle = true }
func wrapped(wrap func(origin.Gateway) origin.Gateway) option {
	return func(p *plan) { p.wrap = wrap }
}

// overLedgers runs a test over each ledger.
func overLedgers(t *testing.T, test func(*house), options ...option) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		overOne(t, test, options...)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		store, err := pgstore.Open(t.Context(), services.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		test(open(t, store, options...))
	})
}

// overOne runs a test over the embedded ledger alone.
func overOne(t *testing.T, test func(*house), options ...option) {
	store, err := sqlitestore.Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	test(open(t, store, options...))
}

// open makes a house with 100 units of one event.
func open(t *testing.T, ledger interface {
	origin.Ledger
	strategy.Ledger
}, options ...option) *house {
	t.Helper()
	p := plan{
		event: origin.Event{ID: finalEvent, Name: "Final", Capacity: 100, Amount: 1200, Currency: "eur", MaxPerBuyer: 4},
		settings: origin.Settings{
			HoldTTL: 5 * time.Minute, ReapEvery: time.Second, ReconcileEvery: time.Second,
			Payment:        origin.PaymentSettings{Timeout: 10 * time.Second, Settle: 10 * time.Minute},
			BuyerKey:       []byte("0123456789abcdef0123456789abcdef"),
			Logger:         zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)),
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		},
	}
	for _, set := range options {
		set(&p)
	}
	if _, err := ledger.PutEvent(t.Context(), p.event); err != nil {
		t.Fatal(err)
	}
	chosen, err := strategy.New("group_commit", strategy.Settings{Ledger: ledger})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, ledger: ledger, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	t.Cleanup(h.client.CloseIdleConnections)
	h.settings = p.settings
	h.settings.Ledger, h.settings.Strategy = ledger, chosen
	h.openGateway(&p)
	h.settings.Gateway = h.gateway
	h.use(h.front(h.settings, !p.idle))
	return h
}

// use has what is asked, and told by webhooks, go to another process.
func (h *house) use(f *front) {
	h.shop = f
	h.hooked.Store(f)
}

// openGateway starts the simulator and its client. Its webhooks go to the shop that opens next.
func (h *house) openGateway(p *plan) {
	settings := simulator.Settings{WebhookSecret: hookSecret, Client: h.client}
	connect := overSimulator
	if p.connect != nil {
		connect = p.connect
	}
	if p.webhooks {
		bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.hooked.Load().Handler().ServeHTTP(w, r)
		}))
		h.Cleanup(bridge.Close)
		settings.WebhookURL = bridge.URL + "/webhooks/" + connect("", 0).Name()
	}
	gateway := simulator.New(settings)
	server := httptest.NewServer(gateway)
	h.simulator = server.URL
	client := connect(server.URL, p.settings.Payment.Timeout)
	h.gateway = client
	if p.wrap != nil {
		h.gateway = p.wrap(client)
	}
	stop := background(h.T, gateway.Run)
	h.Cleanup(func() {
		stop()
		client.Close()
		server.CloseClientConnections()
		server.Close()
	})
}

// front opens one process of the shop.
func (h *house) front(settings origin.Settings, loops bool) *front {
	h.Helper()
	shop, err := origin.New(settings)
	if err != nil {
		h.Fatal(err)
	}
	public, admin := httptest.NewServer(shop.Handler()), httptest.NewServer(shop.AdminHandler())
	h.Cleanup(public.Close)
	h.Cleanup(admin.Close)
	run := shop.Run
	if !loops {
		run = settings.Strategy.Run
	}
	h.Cleanup(background(h.T, run))
	return &front{shop, public.URL, admin.URL}
}

// background runs a loop until the returned function is called, which waits for its end.
func background(t *testing.T, run func(context.Context) error) func() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("run: %v", err)
		}
	})
	return func() { cancel(); running.Wait() }
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a answer) text(name string) string { s, _ := a.body[name].(string); return s }
func (a answer) number(name string) int64 {
	n, _ := a.body[name].(float64)
	return int64(n)
}
func (a answer) kind() string { return strings.TrimPrefix(a.text("type"), "urn:foyer:") }
func (a answer) String() string {
	return fmt.Sprintf("%d %s", a.status, strings.TrimSpace(a.raw))
}

// ask makes one call as a buyer; headers are names and values in turn.
func (h *house) ask(buyer, method, path, body string, headers ...string) answer {
	h.Helper()
	return h.askAt(h.shop.url, buyer, method, path, body, headers...)
}

func (h *house) askAt(base, buyer, method, path, body string, headers ...string) answer {
	h.Helper()
	got, err := h.try(h.Context(), base, buyer, method, path, body, headers...)
	if err != nil {
		h.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

func (h *house) try(ctx context.Context, base, buyer, method, path, body string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if buyer != "" {
		request.Header.Set("X-Foyer-Visitor", buyer)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := h.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	got := answer{status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.NewDecoder(bytes.NewReader(raw)).Decode(&got.body) // lists and pages have no members
	return got, nil
}

// hold makes a hold and answers with its id.
func (h *house) hold(buyer string, quantity int) string {
	h.Helper()
	got := h.ask(buyer, "POST", "/api/events/final/holds", fmt.Sprintf(`{"quantity":%d}`, quantity))
	if got.status != http.StatusCreated {
		h.Fatalf("hold: %v", got)
	}
	return got.text("hold")
}

func (h *house) pay(buyer, hold, key, method string) answer {
	h.Helper()
	return h.ask(buyer, "POST", "/api/holds/"+hold+"/pay", `{"payment_method":"`+method+`"}`, "Idempotency-Key", key)
}

// state reads the state of a hold.
func (h *house) state(buyer, hold string) string {
	h.Helper()
	return h.ask(buyer, "GET", "/api/holds/"+hold, "").text("state")
}

// charges reads what the gateway has really charged, for a hold or (empty) for all.
func (h *house) charges(hold string) answer {
	h.Helper()
	return h.askAt(h.simulator, "", "GET", "/_simulator/charges?hold="+hold, "")
}

// expect checks the status and the kind of problem of an answer.
func (h *house) expect(got answer, status int, kind string) {
	h.Helper()
	if got.status != status || got.kind() != kind {
		h.Errorf("got %v, want %d %s", got, status, kind)
	}
}

// patiently repeats a request that is told that the same one is still running, which a busy machine may bring about.
func (h *house) patiently(ask func() answer) (got answer) {
	h.Helper()
	eventually(h.T, func() bool {
		got = ask()
		return got.kind() != "request-in-progress"
	})
	return got
}

// balanced checks what must hold at the end of every sale: the money kept is that of the orders, and no unit is lost.
func (h *house) balanced() {
	h.Helper()
	audit, ok, err := h.ledger.Audit(context.WithoutCancel(h.Context()), finalEvent)
	if err != nil || !ok {
		h.Fatalf("audit: %v", err)
	}
	all := h.charges("")
	if kept := all.number("charges") - all.number("refunds"); kept != audit.Orders {
		h.Errorf("%d charges kept for %d orders", kept, audit.Orders)
	}
	if audit.HeldRows != audit.Held || audit.SoldRows != audit.Sold {
		h.Errorf("counted %d held and %d sold, the event says %d and %d", audit.HeldRows, audit.SoldRows, audit.Held, audit.Sold)
	}
}

// eventually waits for what another goroutine or process brings about.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute) // as the slowest machine needs
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatal("it never came about")
		case <-tick.C:
		}
	}
}
