package origin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
	"foyer/store/sqlitestore"
	"foyer/store/strategy"
)

// strikes is how often a cell is begun anew.
const strikes = 5

// patienceOfClient is how long a client insists: a claim on a key outlives its process by some seconds.
const patienceOfClient = 30 * time.Second

// journey is what a buyer, or the operator, does with one hold. Every request can be sent again.
type journey struct {
	name  string
	from  string // the first crash point that is this journey's own; those before are another's
	steps []step
	final string        // the state of the hold at the end of it, where the client has insisted
	ttl   time.Duration // of the hold; 0: longer than the test
	late  bool          // the hold's time passes, and its seat is sold, while the money comes
	money bool          // the gateway has something to tell of it by webhook
}

// step is one request of it. {event}, {hold} and {order} stand for what the answers before it said.
type step struct {
	admin              bool
	method, path, body string
	want               int
}

var (
	holding   = step{method: "POST", path: "/api/events/{event}/holds", body: `{"quantity":1}`, want: http.StatusCreated}
	paying    = step{method: "POST", path: "/api/holds/{hold}/pay", body: `{"payment_method":"pm_card_visa"}`, want: http.StatusCreated}
	refused   = step{method: "POST", path: "/api/holds/{hold}/pay", body: `{"payment_method":"pm_card_declined"}`, want: http.StatusPaymentRequired}
	tooLate   = step{method: "POST", path: "/api/holds/{hold}/pay", body: `{"payment_method":"pm_card_visa"}`, want: http.StatusGone}
	releasing = step{method: "DELETE", path: "/api/holds/{hold}", want: http.StatusNoContent}
	refunding = step{admin: true, method: "POST", path: "/api/orders/{order}/refund", want: http.StatusOK}
)

var journeys = []journey{
	{name: "buy", steps: []step{holding, paying}, final: "sold", money: true},
	{name: "decline", from: "before gateway.cancel", steps: []step{holding, refused}, final: "active", money: true},
	{name: "give back", from: "before ledger.Release", steps: []step{holding, releasing}, final: "released"},
	{name: "lapse", from: "before ledger.Expire", steps: []step{holding}, ttl: time.Millisecond},
	{name: "come late", from: "after ledger.Settle", steps: []step{holding, tooLate}, late: true, money: true},
	{name: "refund", from: "before ledger.RefundDue", steps: []step{holding, paying, refunding}, final: "sold"},
}

// recovery is who goes on after the blow, before the loops of another process do.
type recovery string

const (
	byClient   recovery = "client"   // sends the same requests to another process until each is answered
	byWebhook  recovery = "webhook"  // the gateway tells another process
	byResolver recovery = "resolver" // nobody: the loops find it
)

// cell is one field of the matrix.
type cell struct {
	journey
	recovery
	*process
	event, buyer string
	shop         *origin.Shop // the process that is struck
	strategy     origin.Strategy
	ended        chan struct{} // when its work has ended

	mu   sync.Mutex
	hold string // once an answer has told it
}

// heldAs tells or, with an id, notes the hold of a cell.
func (c *cell) heldAs(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "" {
		c.hold = id
	}
	return c.hold
}

// TestCrash_NothingIsLostWhereverAProcessIsStruck is the crash matrix: every point between two systems × what happens there
// × who goes on. The points are found by letting each journey pass once. In every cell the money that the gateway kept is
// that of the orders, the ledger is sound, the counter is what remains, and nothing is left unsettled.
func TestCrash_NothingIsLostWhereverAProcessIsStruck(t *testing.T) {
	t.Parallel()
	var cells atomic.Int64
	var points sync.Map
	t.Run("ledgers", func(t *testing.T) {
		for _, name := range []string{strategy.GroupCommit, strategy.AtomicRedis} {
			for _, recovery := range []recovery{byClient, byWebhook, byResolver} {
				t.Run(name+" "+string(recovery), func(t *testing.T) {
					t.Parallel()
					m := newMatrix(t, name, recovery)
					all := m.cells(recovery)
					for _, c := range all {
						points.Store(name+" "+c.point, true)
					}
					cells.Add(int64(len(all)))
					m.play(all)
				})
			}
		}
	})
	n := 0
	points.Range(func(any, any) bool { n++; return true })
	t.Logf("%d crash points, %d cells", n, cells.Load())
}

// matrix is the world that the cells of one recovery share: a ledger, a gateway, and a counter.
type matrix struct {
	*house
	name    string
	ledger  strategy.WholeLedger
	connect func(p *process, settings *strategy.Settings) // nil: the strategy needs no counter
	prefix  string
	made    atomic.Int64
	lapsing sync.Mutex
	loops   origin.Strategy // of the process that has loops
	deaf    *atomic.Bool    // webhooks are not heard yet
}

func newMatrix(t *testing.T, name string, r recovery) *matrix {
	t.Helper()
	m := &matrix{name: name, deaf: new(atomic.Bool)}
	m.deaf.Store(true)
	options := []option{withoutLoops, timeout(2 * time.Second), func(p *plan) { p.settings.Logger = zap.NewNop() }}
	if r == byWebhook {
		options = append(options, withWebhooks, wrapped(func(g origin.Gateway) origin.Gateway { return deafened{g, m.deaf} }))
	}
	if name != strategy.AtomicRedis {
		store, err := sqlitestore.Open(t.Context(), ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return m.over(t, store, options)
	}
	store, err := pgstore.Open(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	url, prefix := services.Redis(t)
	scripts := readScripts(t)
	m.prefix = prefix
	m.connect = func(p *process, settings *strategy.Settings) {
		if p == nil {
			settings.Redis = services.RedisClient(t, url, nil)
			return
		}
		settings.Redis = services.RedisClient(t, url, crossedCounter(p, scripts))
	}
	return m.over(t, store, options)
}

// over opens the house on a ledger, with a process that is never struck.
func (m *matrix) over(t *testing.T, ledger strategy.WholeLedger, options []option) *matrix {
	m.house, m.ledger = open(t, ledger, options...), ledger
	m.use(m.front(m.settingsOf(nil, strategy.Grouped(ledger)), false))
	return m
}

// deafened is a gateway whose webhooks are refused for a while. They are sent again.
type deafened struct {
	origin.Gateway
	deaf *atomic.Bool
}

func (d deafened) Webhook(header string, body []byte) (origin.Webhook, origin.Intent, error) {
	if d.deaf.Load() {
		return origin.Webhook{}, origin.Intent{}, errLost
	}
	return d.Gateway.Webhook(header, body)
}

// settingsOf are the settings of a process; nil is one that is never struck.
func (m *matrix) settingsOf(p *process, ledger strategy.WholeLedger) origin.Settings {
	m.Helper()
	settings := strategy.Settings{Ledger: ledger, Prefix: m.prefix, Grace: time.Second}
	if m.connect != nil {
		m.connect(p, &settings)
	}
	made, err := strategy.New(m.name, settings)
	if err != nil {
		m.Fatal(err)
	}
	s := m.settings
	s.Ledger, s.Strategy = ledger, made
	if p != nil {
		s.Gateway = crossedGateway(p, m.gateway)
	}
	return s
}

// cells are the fields of the matrix for one recovery: the points of each journey, which is let pass once to find them.
func (m *matrix) cells(r recovery) []*cell {
	m.Helper()
	var all []*cell
	for _, j := range journeys {
		scout := m.open(j, r, "", cut)
		m.work(scout)
		points := scout.points()
		own := slices.Index(points, j.from)
		if j.from == "" {
			own = 0
		}
		if own < 0 {
			m.Fatalf("%s never passes %q, but %q", j.name, j.from, points)
		}
		seen := map[string]bool{}
		for _, point := range points[own:] {
			if seen[point] || r == byWebhook && !j.money {
				continue
			}
			seen[point] = true
			for _, b := range blows {
				all = append(all, m.open(j, r, point, b))
			}
		}
	}
	return all
}

// open makes a cell: an event of its own, and a process to be struck.
func (m *matrix) open(j journey, r recovery, point string, b blow) *cell {
	m.Helper()
	n := m.made.Add(1)
	c := &cell{
		journey: j, recovery: r, process: newProcess(point, b),
		event: fmt.Sprint("e", n), buyer: fmt.Sprint("buyer ", n), ended: make(chan struct{}),
	}
	event := origin.Event{ID: c.event, Name: j.name, Capacity: 1, Amount: 1200, Currency: "eur", MaxPerBuyer: 4}
	if _, err := m.ledger.PutEvent(m.Context(), event); err != nil {
		m.Fatal(err)
	}
	crossed := &crossedLedger{WholeLedger: m.ledger, p: c.process}
	if j.late {
		crossed.settle = func(ctx context.Context, word origin.Settlement) { m.comeBetween(ctx, c, word) }
	}
	settings := m.settingsOf(c.process, strategy.Grouped(crossed))
	if j.ttl > 0 {
		settings.HoldTTL = j.ttl
	}
	shop, err := origin.New(settings)
	if err != nil {
		m.Fatal(err)
	}
	c.shop, c.strategy = shop, settings.Strategy
	return c
}

// comeBetween gives the only seat to somebody else while the money of this buyer is on its way.
func (m *matrix) comeBetween(ctx context.Context, c *cell, word origin.Settlement) {
	ctx = context.WithoutCancel(ctx)
	settled, err := m.ledger.Settle(ctx, origin.Settlement{Attempt: word.Attempt, State: origin.AttemptCanceled})
	if err == nil {
		_, _, _, err = m.ledger.Release(ctx, settled.Hold.ID, c.buyer)
	}
	if err == nil {
		other := origin.HoldRequest{ID: "other of " + c.event, Event: c.event, Buyer: "other", Quantity: 1, TTL: time.Hour}
		_, err = m.ledger.HoldGroup(ctx, c.event, []origin.HoldRequest{other})
	}
	if err != nil {
		m.Errorf("%s: come between: %v", c, err)
	}
}

func (c *cell) String() string {
	return fmt.Sprintf("%s: %s %s, by the %s", c.journey.name, c.blow, c.point, c.recovery)
}

// send makes the requests of a cell, each until it is answered for good if the client insists.
func (m *matrix) send(c *cell, to *origin.Shop, insist bool) {
	told := map[string]string{"event": c.event}
	for i, s := range c.steps {
		got := answer{}
		for deadline := time.Now().Add(patienceOfClient); ; {
			got = m.request(c, to, fmt.Sprint("key ", i), s, told)
			if got.status == s.want || !insist || time.Now().After(deadline) {
				break
			}
			_ = pause(context.Background(), 50*time.Millisecond)
		}
		if got.status != s.want {
			if insist {
				m.Errorf("%s: step %d ends with %v", c, i, got)
			}
			return
		}
	}
}

func (m *matrix) request(c *cell, to *origin.Shop, key string, s step, told map[string]string) answer {
	path := strings.NewReplacer("{event}", told["event"], "{hold}", told["hold"], "{order}", told["order"]).Replace(s.path)
	r := httptest.NewRequest(s.method, path, strings.NewReader(s.body))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("X-Foyer-Visitor", c.buyer)
	r.Header.Set("Idempotency-Key", key)
	handler := to.Handler()
	if s.admin {
		handler = to.AdminHandler()
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	got := answer{status: w.Code, header: w.Header(), raw: w.Body.String()}
	_ = json.Unmarshal(w.Body.Bytes(), &got.body) // 204 has none
	for _, name := range []string{"hold", "order"} {
		if id := got.text(name); id != "" {
			told[name] = id
		}
	}
	c.heldAs(got.text("hold"))
	return got
}

// work is what the process of a cell does until its end: the requests, for a hold that lapses one round of its reaper, and what
// its strategy does behind the answers.
func (m *matrix) work(c *cell) {
	defer close(c.ended)
	m.send(c, c.shop, false)
	if c.ttl > 0 {
		c.shop.Reap(context.WithoutCancel(m.Context()))
	}
	stopping, stop := context.WithCancel(m.Context())
	stop()
	if err := c.strategy.Run(stopping); err != nil {
		m.Errorf("%s: end the process: %v", c, err)
	}
}

// strike sets the process of a cell to work until it is done or frozen. One that has gone another way (on a busy machine a
// counter that answers late is done without) is replaced. Lapsing holds are struck one by one, since any reaper ends them
// all.
func (m *matrix) strike(c *cell) *cell {
	if c.ttl > 0 {
		m.lapsing.Lock()
		defer m.lapsing.Unlock()
	}
	for range strikes {
		go m.work(c) // play waits for it
		select {
		case <-c.ended:
		case <-c.frozen:
		}
		if c.endUnlessStruck() {
			return c
		}
		c = m.open(c.journey, c.recovery, c.point, c.blow)
	}
	m.Errorf("%s: never came to it", c)
	close(c.ended)
	return c
}

// recover has somebody go on.
func (m *matrix) recover(c *cell, other *origin.Shop) {
	switch c.recovery {
	case byClient:
		m.send(c, other, true)
		hold, _, err := m.ledger.Hold(m.Context(), c.heldAs(""))
		if err != nil || c.final != "" && string(hold.State) != c.final {
			m.Errorf("%s: the client has its answers, and the hold is %+v (%v)", c, hold, err)
		}
	case byWebhook:
		if hold := c.heldAs(""); hold != "" {
			m.askAt(m.simulator, "", "POST", "/_simulator/redeliver?times=2&hold="+hold, "")
		}
	}
}

// play strikes all, has others go on, lets the loops find the rest, wakes up who was frozen, and looks at what came of it.
func (m *matrix) play(all []*cell) {
	m.Helper()
	each(all, 64, func(i int) { all[i] = m.strike(all[i]) })
	m.deaf.Store(false)
	each(all, len(all), func(i int) { m.recover(all[i], m.shop.Shop) })
	settings := m.settingsOf(nil, strategy.Grouped(m.ledger))
	m.loops = settings.Strategy
	m.use(m.front(settings, true))
	began := time.Now()
	eventually(m.T, func() bool { return m.quiet(all) })
	m.Logf("%d cells; the last was settled %v after the loops began", len(all), time.Since(began).Round(time.Millisecond))
	for _, c := range all {
		close(c.thaw) // all are struck, or have failed the test
	}
	for _, c := range all {
		<-c.ended
	}
	eventually(m.T, func() bool { return m.quiet(all) })
	for _, c := range all {
		m.verify(c)
	}
}

// quiet tells whether nothing is unsettled or pending, and no counter is off.
func (m *matrix) quiet(all []*cell) bool {
	findings, err := m.ledger.Check(m.Context(), -time.Hour)
	if err != nil || len(findings) > 0 {
		return false
	}
	for _, c := range all {
		compared, err := m.loops.Compare(m.Context(), c.event)
		if err != nil || compared.DriftBefore != 0 || compared.Pending != 0 {
			return false
		}
	}
	return true
}

// verify compares the money that the gateway kept with the orders, and what is taken with the capacity.
func (m *matrix) verify(c *cell) {
	m.Helper()
	audit, _, err := m.ledger.Audit(m.Context(), c.event)
	if err != nil {
		m.Fatal(err)
	}
	if audit.Remaining() < 0 || audit.HeldRows != audit.Held || audit.SoldRows != audit.Sold || audit.Orders != audit.Sold {
		m.Errorf("%s: %+v", c, audit)
	}
	compared, err := m.loops.Compare(m.Context(), c.event)
	if err != nil || compared.Counter != nil && *compared.Counter != audit.Remaining() {
		m.Errorf("%s: the counter says %v, %d remain (%v)", c, *compared.Counter, audit.Remaining(), err)
	}
	id := c.heldAs("")
	if id == "" {
		return // nothing was begun that could be charged
	}
	hold, _, err := m.ledger.Hold(m.Context(), id)
	if err != nil {
		m.Fatal(err)
	}
	order, _, err := m.ledger.Order(m.Context(), hold.Order)
	if err != nil {
		m.Fatal(err)
	}
	charges := m.charges(id)
	if kept := charges.number("captured") - charges.number("refunded"); kept != order.Amount-order.Refunded {
		m.Errorf("%s: the gateway kept %d for an order of %d − %d", c, kept, order.Amount, order.Refunded)
	}
	if n := charges.number("charges"); n > 1 {
		m.Errorf("%s: charged %d times", c, n)
	}
}

// each does the work on all cells, some at a time.
func each(all []*cell, width int, work func(i int)) {
	var group errgroup.Group
	group.SetLimit(max(width, 1))
	for i := range all {
		group.Go(func() error { work(i); return nil })
	}
	_ = group.Wait() // each reports its own
}
