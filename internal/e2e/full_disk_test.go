package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve starts foyer with all that it writes on this disk.
func (d *disk) serve(t *testing.T) *server {
	t.Helper()
	file, logged := filepath.Join(d.seen, "foyer.yaml"), filepath.Join(d.seen, "log")
	if err := os.WriteFile(file, fmt.Appendf(nil, oneByOne, d.folder), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(logged, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	before, err := os.ReadFile(logged)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: d.start("serve", "--config", filepath.Join(d.folder, "foyer.yaml")), ended: make(chan struct{}), log: &logbook{}}
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.Stop(t)
		if text, _ := os.ReadFile(logged); t.Failed() {
			t.Logf("log of foyer:\n%s", text)
		}
	})
	eventually(t, 20*time.Second, "foyer listens", func() bool {
		text, _ := os.ReadFile(logged)
		for line := range bytes.Lines(text[len(before):]) {
			var said struct{ Msg, Edge, Admin string }
			if json.Unmarshal(line, &said) == nil && said.Msg == "listening" {
				s.Edge, s.Admin = said.Edge, said.Admin
			}
		}
		return s.Edge != ""
	})
	eventually(t, 20*time.Second, "foyer is ready", func() bool {
		return newPerson(s.Admin, false).ask(t, http.MethodGet, "/readyz", "").StatusCode == http.StatusOK
	})
	return s
}

// oneByOne is a shop that one buyer at a time may enter.
const oneByOne = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: %[1]s/foyer.db, state_file: %[1]s/foyer.state}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - {name: shop, upstream: origin, capacity: 1, session: {idle: 2m, claim: 5s}, queue: {poll: {min: 200ms, max: 1s}}}
origin:
  events:
    - {id: final, name: Final, capacity: 10000, price: {amount: 12000, currency: eur}, max_per_buyer: 10000}
`

// TestScarce_AFullDiskSellsNothingAndLosesNothing is G4: while nothing can be written the line goes on, holds are refused
// with what is wrong, and nothing is half done; all goes on when there is space, also in a process that finds the files
// as the full disk has left them.
func TestScarce_AFullDiskSellsNothingAndLosesNothing(t *testing.T) {
	t.Run("limit", func(t *testing.T) { fillDisk(t, limited(t)) })
	t.Run("disk", func(t *testing.T) {
		d, err := mounted(t)
		if err != nil {
			t.Logf("the limit on files has to stand for a full disk alone: %v", err)
			return
		}
		fillDisk(t, d)
	})
}

func fillDisk(t *testing.T, d *disk) {
	s := d.serve(t)
	buyer, waits, late := newPerson(s.Edge, false), newPerson(s.Edge, false), newPerson(s.Edge, false)
	made := 0
	hold := func(p *person) reply {
		answer := p.ask(t, http.MethodPost, "/api/events/final/holds", `{"quantity":1}`, "Content-Type", "application/json")
		if answer.StatusCode == http.StatusCreated {
			made++
		}
		return answer
	}
	buyer.ask(t, http.MethodGet, "/api/events/final", "").want(t, http.StatusOK)
	hold(buyer).want(t, http.StatusCreated)
	waits.ask(t, http.MethodGet, "/api/events/final", "").want(t, http.StatusTooManyRequests)
	eventually(t, 10*time.Second, "the place is saved", func() bool { return d.savedTail(t) == 2 })

	d.fill(t, s.cmd.Process.Pid)
	var refused reply
	eventually(t, 30*time.Second, "a hold is refused", func() bool { // the journal may have some room left
		refused = hold(buyer)
		return refused.StatusCode != http.StatusCreated
	})
	if refused.StatusCode != http.StatusServiceUnavailable || !strings.Contains(refused.Text, "urn:foyer:store-unavailable") || refused.Header.Get("Retry-After") == "" {
		t.Errorf("a hold that cannot be written is answered %d %v %s", refused.StatusCode, refused.Header, refused.Text)
	}
	eventually(t, 10*time.Second, "the state file is known not to be written", func() bool { return gauge(t, s, stateUp) == 0 })
	late.ask(t, http.MethodGet, "/api/events/final", "").want(t, http.StatusTooManyRequests)
	d.wantPlaces(t, map[*person]int{waits: 2, late: 3})
	if tail := d.savedTail(t); tail != 2 {
		t.Errorf("the state file has tail %d; the old one is to stay whole", tail)
	}
	d.wantHeld(t, buyer, made)

	d.free(t, s.cmd.Process.Pid)
	eventually(t, 30*time.Second, "a hold is made", func() bool { return hold(buyer).StatusCode == http.StatusCreated })
	d.wantHeld(t, buyer, made)
	eventually(t, 10*time.Second, "the state file is written", func() bool { return gauge(t, s, stateUp) == 1 && d.savedTail(t) == 3 })
	d.wantLog(t, "state is saved again")

	d.fill(t, s.cmd.Process.Pid)
	eventually(t, 10*time.Second, "the disk is full again", func() bool { return gauge(t, s, stateUp) == 0 })
	s.Kill(t)
	if _, err := os.Stat(filepath.Join(d.seen, "ballast")); err == nil {
		d.free(t, 0)
	}
	again := d.serve(t)
	for _, p := range []*person{buyer, waits, late} {
		p.base = again.Edge
	}
	d.wantPlaces(t, map[*person]int{waits: 2, late: 3})
	d.wantHeld(t, buyer, made)
}

// stateUp is the metric of whether the state file could be written.
const stateUp = `foyer_store_up{store="state_file"}`

// savedTail is the last ticket that the state file has: it is always whole.
func (d *disk) savedTail(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.seen, "foyer.state"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Gates map[string]struct{ Tail int } }
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatalf("the state file is not whole: %v: %.200s", err, text)
	}
	return state.Gates["shop"].Tail
}

func (d *disk) wantPlaces(t *testing.T, tickets map[*person]int) {
	t.Helper()
	for p, want := range tickets {
		eventually(t, 10*time.Second, fmt.Sprintf("ticket %d waits", want), func() bool {
			ticket, state := placeOf(t, p)
			return ticket == want && state == "waiting"
		})
	}
}

// wantHeld wants as many units held as were acknowledged: what was refused is not half done.
func (d *disk) wantHeld(t *testing.T, p *person, made int) {
	t.Helper()
	var stock struct{ Held, Remaining int }
	answer := p.ask(t, http.MethodGet, "/api/events/final", "").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(answer.Text), &stock); err != nil || stock.Held != made || stock.Remaining != 10_000-made {
		t.Errorf("%d holds were made, and the shop says %s", made, answer.Text)
	}
}

// wantLog wants a line in the log, and none that is torn.
func (d *disk) wantLog(t *testing.T, message string) {
	t.Helper()
	eventually(t, 10*time.Second, "the log says "+message, func() bool {
		text, err := os.ReadFile(filepath.Join(d.seen, "log"))
		if err != nil {
			t.Fatal(err)
		}
		found, torn := false, 0
		for line := range bytes.Lines(text) {
			var said struct{ Msg string }
			if json.Unmarshal(line, &said) != nil {
				torn++
			}
			found = found || said.Msg == message
		}
		if torn > 1 {
			t.Fatalf("%d lines are torn:\n%s", torn, text)
		}
		return found
	})
}
