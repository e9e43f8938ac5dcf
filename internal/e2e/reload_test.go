package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Keys of tokens, of which the first signs.
const (
	keyOne = `{id: one, secret: "0123456789abcdef0123456789abcdef"}`
	keyTwo = `{id: two, secret: "fedcba9876543210fedcba9876543210"}`
)

// movable is a configuration whose capacity, keys and further gates change while foyer runs.
func movable(upstream string, capacity int, keys, more string) string {
	return fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
tokens: {leeway: 250ms, keys: [%s]}
gates:
%s  - name: shop
    upstream: %s
    capacity: %d
    session: {idle: 20s, claim: 5s}
    queue: {poll: {min: 200ms, max: 1s}}
`, keys, more, upstream, capacity)
}

// another is a gate that is there in every other configuration.
func another(upstream string) string {
	return fmt.Sprintf("  - {name: other, match: {paths: [/other/**]}, upstream: %q, capacity: 5, session: {claim: 5s}}\n", upstream)
}

// rewrite replaces the configuration as an editor does.
func (s *server) rewrite(t *testing.T, configuration string) {
	t.Helper()
	if err := os.WriteFile(s.File+"~", []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.File+"~", s.File); err != nil {
		t.Fatal(err)
	}
}

func (s *server) hangup(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// wantReload waits until the metric says what it is to say.
func (s *server) wantReload(t *testing.T, want int) {
	t.Helper()
	line := fmt.Sprintf("\nfoyer_config_last_reload_successful %d\n", want)
	eventually(t, 10*time.Second, line, func() bool {
		return strings.Contains(newPerson(s.Admin, false).ask(t, http.MethodGet, "/metrics", "").Text, line)
	})
}

// placeOf is where a visitor stands: its ticket, and whether it is inside.
func placeOf(t *testing.T, p *person) (ticket int, state string) {
	t.Helper()
	var status struct {
		Ticket int
		State  string
	}
	answer := p.ask(t, http.MethodGet, "/_foyer/shop/status", "").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(answer.Text), &status); err != nil {
		t.Fatalf("read the status %q: %v", answer.Text, err)
	}
	return status.Ticket, status.State
}

// crowd is some people inside and some in line, who go on asking until stop is called.
type crowd struct {
	inside, line []*person
	tickets      []int // of those in line
	asked        atomic.Int64
	stop         func()
}

// arrive is a person's first visit.
func arrive(t *testing.T, p *person) reply {
	t.Helper()
	return insist(t, p, http.MethodGet, "/sale")
}

// insist asks once more where the machine is too busy for the store to answer in time.
func insist(t *testing.T, p *person, method, path string) (answer reply) {
	t.Helper()
	eventually(t, 10*time.Second, "the store answers in time", func() bool {
		answer = p.ask(t, method, path, "")
		return answer.StatusCode != http.StatusServiceUnavailable
	})
	return answer
}

// gather fills the gate and the line behind it, and has everybody ask all the time.
func gather(t *testing.T, s *server, inside, line int) *crowd {
	t.Helper()
	c := &crowd{}
	for range inside {
		p := newPerson(s.Edge, false)
		arrive(t, p).want(t, http.StatusOK)
		c.inside = append(c.inside, p)
	}
	for range line {
		p := newPerson(s.Edge, false)
		arrive(t, p).want(t, http.StatusTooManyRequests)
		ticket, _ := placeOf(t, p)
		c.line, c.tickets = append(c.line, p), append(c.tickets, ticket)
	}
	done := make(chan struct{})
	var asking sync.WaitGroup
	ask := func(p *person, path string, want int) {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
					p.ask(t, http.MethodGet, path, "").want(t, want)
					c.asked.Add(1)
				}
			}
		})
	}
	for _, p := range c.inside {
		ask(p, "/sale", http.StatusOK)
	}
	for _, p := range c.line {
		ask(p, "/_foyer/shop/status", http.StatusOK)
	}
	c.stop = sync.OnceFunc(func() {
		close(done)
		asking.Wait()
	})
	t.Cleanup(c.stop)
	return c
}

// wantPlaces checks that everybody is where he was.
func (c *crowd) wantPlaces(t *testing.T) {
	t.Helper()
	for i, p := range c.line {
		if ticket, state := placeOf(t, p); ticket != c.tickets[i] || state != "waiting" {
			t.Errorf("visitor %d had ticket %d, and now has %d and is %s", i, c.tickets[i], ticket, state)
		}
	}
	for i, p := range c.inside {
		if _, state := placeOf(t, p); state != "admitted" {
			t.Errorf("visitor %d was inside, and now is %s", i, state)
		}
	}
}

// TestReload_ABrokenFileChangesNothing is G2.
func TestReload_ABrokenFileChangesNothing(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	good := movable(upstream.URL, 3, keyOne, "")
	s := serve(t, good)
	c := gather(t, s, 3, 3)
	for name, broken := range map[string]string{
		"not YAML":      "gates: [",
		"two problems":  strings.NewReplacer("capacity: 3", "capacity: 0", "idle: 20s", "idle: 20").Replace(good),
		"a fixed key":   strings.Replace(good, `listen: "127.0.0.1:0"`, `listen: "127.0.0.1:1"`, 1),
		"a key in vain": strings.Replace(good, "0123456789abcdef0123456789abcdef", "short", 1),
	} {
		s.rewrite(t, broken)
		s.hangup(t)
		s.wantReload(t, 0)
		s.rewrite(t, good)
		s.hangup(t)
		s.wantReload(t, 1)
		t.Logf("%s: %d requests answered", name, c.asked.Load())
	}
	c.stop()
	c.wantPlaces(t)
	for _, want := range []string{"configuration refused, the old one stays", `"key":"gates[0].capacity"`, `"key":"gates[0].session.idle"`, "restart to change it"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
}

// TestReload_EveryTenthOfASecondLosesNothing is C4: capacity up and down, keys rotated and a gate that comes and goes.
func TestReload_EveryTenthOfASecondLosesNothing(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	s := serve(t, movable(upstream.URL, 3, keyOne, ""))
	c := gather(t, s, 3, 5)
	const reloads = 30
	taken := func() int { return strings.Count(s.log.String(), "configuration reloaded") }
	deadline := time.Now().Add(time.Minute)
	for i := 0; i < reloads || taken() < reloads/2 && time.Now().Before(deadline); i++ { // slow ones take two changes at once
		keys, more := keyOne+", "+keyTwo, ""
		if i%4 >= 2 {
			keys = keyTwo + ", " + keyOne
		}
		if i%2 == 0 {
			more = another(upstream.URL)
		}
		s.rewrite(t, movable(upstream.URL, 2+i%2, keys, more))
		s.hangup(t)
		<-time.After(100 * time.Millisecond)
	}
	s.wantReload(t, 1)
	c.stop()
	c.wantPlaces(t)
	if taken() < reloads/2 || strings.Contains(s.log.String(), "configuration refused") {
		t.Errorf("%d of %d configurations were taken over", taken(), reloads)
	}
	t.Logf("%d reloads, %d requests", taken(), c.asked.Load())
}

func TestReload_FollowsTheFileWithoutASignal(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	s := serve(t, movable(upstream.URL, 1, keyOne, ""))
	c := gather(t, s, 1, 1)
	c.stop()

	s.rewrite(t, movable(upstream.URL, 1, keyTwo+", "+keyOne, another(upstream.URL))) // a new key signs, and a gate is added
	visitor := newPerson(s.Edge, false)
	eventually(t, 10*time.Second, "the new gate lets somebody in", func() bool {
		return visitor.ask(t, http.MethodGet, "/other/page", "").StatusCode == http.StatusOK
	})
	c.wantPlaces(t)
	if got := newPerson(s.Admin, false).ask(t, http.MethodGet, "/api/gates/other", "").want(t, http.StatusOK); !strings.Contains(got.Text, `"gate":"other"`) {
		t.Errorf("the admin API says %s of the new gate", got.Text)
	}

	s.rewrite(t, movable(upstream.URL, 2, keyTwo+", "+keyOne, "")) // a place more, and the gate has gone
	eventually(t, 10*time.Second, "a place more", func() bool {
		return c.line[0].ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusOK
	})
	eventually(t, 10*time.Second, "the gate has gone", func() bool {
		return newPerson(s.Admin, false).ask(t, http.MethodGet, "/api/gates/other", "").StatusCode == http.StatusNotFound
	})
}
