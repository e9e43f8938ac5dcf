package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"foyer/internal/services"
)

// outageSpan is how long each store fails, and how long it is measured before and after; make outages takes longer.
var outageSpan = flag.Duration("outage-span", time.Second, "how long each outage of TestOutage_… lasts")

const stored = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {redis: %q, postgres: %q, state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - {name: shop, upstream: origin, capacity: 5, session: {idle: 2m, claim: 5s}, queue: {poll: {min: 200ms, max: 1s}}}
origin:
  events:
    - {id: final, name: Final, capacity: 1000000, price: {amount: 12000, currency: eur}, max_per_buyer: 1000}
`

// link is a way to a store that can be cut and made slow.
type link struct{ *toxiproxy.Proxy }

// through puts a link in front of the store with this URL, and answers with the URL that leads through it.
func through(t *testing.T, address string) (link, string) {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, parsed.Scheme, "127.0.0.1:0", parsed.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	parsed.Host = proxy.Listen
	return link{proxy}, parsed.String()
}

// poison applies a toxic until mend is called.
func (l link) poison(t *testing.T, kind, attributes string) (mend func()) {
	t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": {%s}}`, stream, kind, stream, attributes)
		if _, err := l.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			t.Fatal(err)
		}
	}
	return func() { l.Toxics.ResetToxics(t.Context()) }
}

// marketplace is some people who buy and give back, and some who wait, all the time.
type marketplace struct {
	bought atomic.Int64
	close  func()

	mu      sync.Mutex
	took    []time.Duration // of waiting answers
	strange map[int]int     // answers to those who wait that are no waiting answers, by status
}

// openMarket has everybody come in, and go on until it is closed.
func openMarket(t *testing.T, s *server) *marketplace {
	t.Helper()
	m := &marketplace{strange: map[int]int{}}
	done := make(chan struct{})
	var busy sync.WaitGroup
	repeat := func(every time.Duration, step func()) {
		busy.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(every):
					step()
				}
			}
		})
	}
	for range 5 {
		p := newPerson(s.Edge, false)
		insist(t, p, http.MethodGet, "/api/events/final").want(t, http.StatusOK)
		repeat(50*time.Millisecond, func() {
			held := p.ask(t, http.MethodPost, "/api/events/final/holds", `{"quantity":1}`, "Content-Type", "application/json")
			if held.StatusCode != http.StatusCreated {
				return
			}
			m.bought.Add(1)
			p.ask(t, http.MethodDelete, held.Header.Get("Location"), "")
		})
	}
	for range 30 {
		p := newPerson(s.Edge, false)
		insist(t, p, http.MethodGet, "/api/events/final").want(t, http.StatusTooManyRequests)
		repeat(50*time.Millisecond, func() { m.wait(t, p) })
	}
	m.close = func() {
		close(done)
		busy.Wait()
	}
	return m
}

func (m *marketplace) wait(t *testing.T, p *person) {
	began := time.Now()
	answer := p.ask(t, http.MethodGet, "/api/events/final", "")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, time.Since(began))
	if answer.StatusCode != http.StatusTooManyRequests {
		m.strange[answer.StatusCode]++
	}
}

// marketReport is what happened in a span.
type marketReport struct {
	bought, answers    int
	p99                time.Duration
	goroutines, memory int
	strange            map[int]int
}

func (r marketReport) String() string {
	return fmt.Sprintf("%4d bought, %5d waiting answers, p99 %8v, %4d goroutines, %4d MB", r.bought, r.answers,
		r.p99.Round(100*time.Microsecond), r.goroutines, r.memory>>20)
}

// measure looks on for a span, and on a slow machine for up to patience longer until somebody has bought.
func (m *marketplace) measure(t *testing.T, s *server, patience time.Duration) marketReport {
	t.Helper()
	m.mu.Lock()
	m.took, m.strange = nil, map[int]int{}
	m.mu.Unlock()
	before := m.bought.Load()
	<-time.After(*outageSpan)
	for ends := time.Now().Add(patience); m.bought.Load() == before && time.Now().Before(ends); {
		<-time.After(20 * time.Millisecond)
	}
	r := marketReport{bought: int(m.bought.Load() - before), goroutines: gauge(t, s, "go_goroutines"), memory: gauge(t, s, "process_resident_memory_bytes")}
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.took)
	r.answers, r.strange = len(m.took), m.strange
	if r.answers > 0 {
		r.p99 = m.took[r.answers*99/100]
	}
	return r
}

// gauge reads a metric.
func gauge(t *testing.T, s *server, name string) int {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(newPerson(s.Admin, false).ask(t, http.MethodGet, "/metrics", "").Text))
	for lines.Scan() {
		var value float64
		if n, _ := fmt.Sscanf(lines.Text(), name+" %g", &value); n == 1 {
			return int(value)
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// TestOutage_OfEitherStoreLeavesTheOtherHalfAtWork has Redis and Postgres each cut off, slow and frozen under load: who
// waits goes on being told so, and at once; who is inside goes on buying where the ledger lives; and afterwards all is as
// it was before.
func TestOutage_OfEitherStoreLeavesTheOtherHalfAtWork(t *testing.T) {
	redis, postgres := services.PrivateRedis(t), services.PrivatePostgres(t)
	line, lineURL := through(t, redis.URL())
	ledger, ledgerURL := through(t, postgres.URL())
	s := serve(t, fmt.Sprintf(stored, lineURL, ledgerURL))
	m := openMarket(t, s)
	defer m.close()
	freeze := func(freeze, thaw func() error) func() func() {
		return func() func() {
			if err := freeze(); err != nil {
				t.Fatal(err)
			}
			return func() { _ = thaw() }
		}
	}
	for _, fault := range []struct {
		name string
		sell bool // whether the ledger is alive
		make func() (mend func())
	}{
		{"Redis cut", true, func() func() { return line.poison(t, "timeout", `"timeout": 0`) }},
		{"Redis slow", true, func() func() { return line.poison(t, "latency", `"latency": 400`) }},
		{"Redis frozen", true, freeze(redis.Freeze, redis.Thaw)},
		{"Postgres cut", false, func() func() { return ledger.poison(t, "timeout", `"timeout": 0`) }},
		{"Postgres slow", true, func() func() { return ledger.poison(t, "latency", `"latency": 50`) }},
		{"Postgres frozen", false, freeze(postgres.Freeze, postgres.Thaw)},
	} {
		eventually(t, 60*time.Second, "people buy", func() bool { // a breaker looks again after a while
			before := m.bought.Load()
			<-time.After(100 * time.Millisecond)
			return m.bought.Load() > before
		})
		patience := time.Duration(0)
		if fault.sell {
			patience = 10 * time.Second
		}
		before := m.measure(t, s, 0)
		mend := fault.make()
		during := m.measure(t, s, patience)
		mend()
		after := m.measure(t, s, 0)
		t.Logf("%-15s before %v\n%-24s during %v\n%-24s after  %v", fault.name, before, "", during, "", after)
		if fault.sell && during.bought == 0 {
			t.Errorf("%s: nobody could buy", fault.name)
		}
		// On a machine that is busy with something else, all answers are late.
		if limit := max(2*time.Second, 3*before.p99, 3*after.p99); during.answers == 0 || during.p99 > limit {
			t.Errorf("%s: %d waiting answers, p99 %v", fault.name, during.answers, during.p99)
		}
		if len(during.strange)+len(after.strange) > 0 {
			t.Errorf("%s: who waited was answered %v, and later %v", fault.name, during.strange, after.strange)
		}
		if during.goroutines > 2*before.goroutines+200 || after.goroutines > 2*before.goroutines+200 {
			t.Errorf("%s: %d goroutines, then %d, then %d", fault.name, before.goroutines, during.goroutines, after.goroutines)
		}
	}
	eventually(t, 60*time.Second, "people buy in the end", func() bool { return m.measure(t, s, 0).bought > 0 })
}
