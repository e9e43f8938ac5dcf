package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"foyer/admission"
	"foyer/internal/services"
	"foyer/loadtest"
)

// redisGate is a gate whose line lives in Redis.
const redisGate = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {redis: %q, state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - name: shop
    upstream: %s
    capacity: %d
    session: {idle: %s, claim: 1s}
    queue: {poll: {min: 250ms, max: 2s}}
`

func TestServe_TwoReplicasNeverLetMoreThanCapacityInside(t *testing.T) {
	const capacity, people, idle = 20, 500, time.Second
	meter := &loadtest.Meter{Silence: idle, Who: func(r *http.Request) string { return r.Header.Get("X-Foyer-Ticket") }}
	upstream := httptest.NewServer(meter.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, shopWindow)
	})))
	defer upstream.Close()
	redis := services.PrivateRedis(t).URL()
	configuration := fmt.Sprintf(redisGate, redis, upstream.URL, capacity, idle.String())
	replicas := []*server{serve(t, configuration), serve(t, configuration)}
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: people})
	defer transport.CloseIdleConnections()

	var stayed atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	tally := loadtest.NewTally()
	loadtest.Crowd{People: people, Visit: func(ctx context.Context, i int) loadtest.Outcome {
		site := loadtest.Site{Base: replicas[i%2].Edge, Gate: "shop", Entry: "/sale", Transport: transport}
		v := loadtest.NewVisitor(site)
		if i%3 == 0 {
			return vanisher(ctx, v, i)
		}
		outcome := stayer(ctx, v, meter)
		if outcome.End == loadtest.Bought {
			stayed.Add(1)
		}
		return outcome
	}}.Run(ctx, tally)
	if err := tally.Failure(); err != nil {
		t.Errorf("a visit broke: %v", err)
	}
	if want := int64(people - (people+2)/3); stayed.Load() != want {
		t.Errorf("%d visitors got in and left, want all %d who did not vanish: %v", stayed.Load(), want, tally.Ends())
	}
	if peak := meter.Peak(); peak > capacity || peak < capacity/2 {
		t.Errorf("the upstream saw %d inside at once, want at most %d, and a gate that is used", peak, capacity)
	}
	t.Logf("peak %d of %d, waits p50 %v, p99 %v", meter.Peak(), capacity, tally.Waits.Quantile(50), tally.Waits.Quantile(99))
}

// stayer waits as long as it takes, looks at a few pages, and leaves. Whom a busy machine keeps from asking for longer
// than idle waits once more, and is not inside meanwhile.
func stayer(ctx context.Context, v *loadtest.Visitor, meter *loadtest.Meter) loadtest.Outcome {
	arrived := time.Now()
	place, err := v.Enter(ctx, -1)
	waited := time.Since(arrived)
	for range 3 {
		if err != nil || !place.Inside {
			return loadtest.Outcome{End: loadtest.Failed, Err: fmt.Errorf("get in: %+v, %v", place, err)}
		}
		<-time.After(80 * time.Millisecond)
		if place, err = v.Arrive(ctx); err == nil && !place.Inside {
			meter.End(fmt.Sprint(place.Ticket))
			place, err = v.Enter(ctx, -1)
		}
	}
	if err := v.Leave(ctx); err != nil {
		return loadtest.Outcome{End: loadtest.Failed, Err: err}
	}
	return loadtest.Outcome{End: loadtest.Bought, Waited: waited}
}

// vanisher goes without a word: every other one in line, the rest as soon as inside.
func vanisher(ctx context.Context, v *loadtest.Visitor, i int) loadtest.Outcome {
	patience := 100 * time.Millisecond
	if i%2 == 0 {
		patience = -1
	}
	if _, err := v.Enter(ctx, patience); err != nil {
		return loadtest.Outcome{End: loadtest.Failed, Err: err}
	}
	return loadtest.Outcome{End: loadtest.Vanished}
}

func TestServe_APollMakesNoStoreCall(t *testing.T) {
	const waiters, polls = 50, 1000
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	redis := services.PrivateRedis(t).URL()
	s := serve(t, fmt.Sprintf(redisGate, redis, upstream.URL, 1, "5m"))
	arrive(t, newPerson(s.Edge, false)).want(t, http.StatusOK)
	line := make([]*person, waiters)
	for i := range line {
		line[i] = newPerson(s.Edge, false)
		eventually(t, 10*time.Second, "a place in line", func() bool { // a busy machine may time a store call out
			return line[i].ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusTooManyRequests
		})
	}
	quiet := storeTraffic(t, redis, func() { <-time.After(2 * time.Second) })
	busy := storeTraffic(t, redis, func() {
		var wg sync.WaitGroup
		for _, p := range line {
			wg.Go(func() {
				for range polls / waiters {
					p.ask(t, http.MethodGet, "/_foyer/shop/status", "").want(t, http.StatusOK)
				}
			})
		}
		wg.Wait()
	})
	t.Logf("without polls %+v, with %d of them %+v", quiet, polls, busy)
	// A tick runs one script, whoever asks meanwhile; it says who polled, and so calls up to twice the commands. The time
	// that the polls took bounds the scripts, and these the commands: 1,000 polls with a store call each would stand out.
	if explained := int(busy.took/admission.Tick) + 2; busy.scripts > explained+polls/5 {
		t.Errorf("%d scripts in %v, want about %d", busy.scripts, busy.took, explained)
	}
	if quiet.scripts == 0 {
		t.Fatal("no tick in two seconds")
	}
	if explained := 2 * busy.scripts * quiet.commands / quiet.scripts; busy.commands > explained+polls/5 {
		t.Errorf("%d commands by %d scripts, want about %d", busy.commands, busy.scripts, explained)
	}
}

// traffic is what a store does in some time.
type traffic struct {
	took     time.Duration
	scripts  int // that were called
	commands int // all, with those that the scripts call
}

// storeTraffic counts what Redis does while f runs.
func storeTraffic(t *testing.T, redis string, f func()) traffic {
	t.Helper()
	started, scripts, commands := time.Now(), 0, 0
	before := commandStats(t, redis)
	f()
	for name, calls := range commandStats(t, redis) {
		commands += calls - before[name]
		if strings.HasPrefix(name, "eval") {
			scripts += calls - before[name]
		}
	}
	return traffic{time.Since(started), scripts, commands}
}

// commandStats asks for the calls of each command, by INFO commandstats.
func commandStats(t *testing.T, redis string) map[string]int {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(redis, "redis://"), "/0")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "INFO commandstats\r\n")
	reader := bufio.NewReader(conn)
	head, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil {
		t.Fatalf("redis answers %q: %v", head, err)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(reader, text); err != nil {
		t.Fatal(err)
	}
	stats := map[string]int{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if name, calls, found := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls="); found {
			calls, _, _ = strings.Cut(calls, ",")
			n, err := strconv.Atoi(calls)
			if err != nil {
				t.Fatal(err)
			}
			stats[name] = n
		}
	}
	return stats
}

func TestServe_AHundredWithoutCookiesBehindOneAddressHaveAHundredPlaces(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	s := serve(t, fmt.Sprintf(redisGate, services.PrivateRedis(t).URL(), upstream.URL, 1, "5m"))
	arrive(t, newPerson(s.Edge, false)).want(t, http.StatusOK)
	var wg sync.WaitGroup
	var mu sync.Mutex
	places := map[string]bool{}
	for range 100 {
		wg.Go(func() {
			got := insist(t, newPerson(s.Edge, false), http.MethodPost, "/_foyer/shop/join").want(t, http.StatusCreated)
			var status struct{ Ticket json.Number }
			if err := json.Unmarshal([]byte(got.Text), &status); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			places[status.Ticket.String()] = true
		})
	}
	wg.Wait()
	if len(places) != 100 {
		t.Errorf("%d places for 100 visitors", len(places))
	}
}
