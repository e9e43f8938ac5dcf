package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// keptGate is a gate whose line is in the process and in its state file.
const keptGate = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - name: shop
    upstream: %s
    capacity: 1
    session: {idle: 3s, claim: 1s}
    queue: {poll: {min: 2s, max: 4s}} # long enough that nobody counts as silent in the test
`

func TestServe_KeepsEveryPlaceOverARestart(t *testing.T) {
	for name, end := range map[string]func(*server, *testing.T){"SIGTERM": (*server).Stop, "kill -9": (*server).Kill} {
		t.Run(name, func(t *testing.T) {
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, shopWindow) }))
			defer upstream.Close()
			folder, configuration := t.TempDir(), fmt.Sprintf(keptGate, upstream.URL)
			s := serveIn(t, folder, configuration)
			people := make([]*person, 4)
			for i := range people {
				people[i] = newPerson(s.Edge, false)
				people[i].ask(t, http.MethodGet, "/sale", "")
			}
			before := make([]int, len(people))
			for i, p := range people[1:] {
				before[i] = ticketOf(t, p)
			}
			<-time.After(1500 * time.Millisecond) // the state is saved once a second
			end(s, t)
			s = serveIn(t, folder, configuration)
			for i, p := range people[1:] {
				p.base = s.Edge
				if got := ticketOf(t, p); got != before[i] {
					t.Errorf("ticket %d has become %d", before[i], got)
				}
			}
			newcomer := newPerson(s.Edge, false)
			newcomer.ask(t, http.MethodGet, "/sale", "").want(t, http.StatusTooManyRequests)
			if got := ticketOf(t, newcomer); got <= before[2] {
				t.Errorf("a newcomer has ticket %d, before %d", got, before[2])
			}
			eventually(t, 20*time.Second, "the line moves", func() bool {
				return people[1].ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusOK
			})
		})
	}
}

// ticketOf polls for the visitor's ticket.
func ticketOf(t *testing.T, p *person) int {
	t.Helper()
	var status struct{ Ticket int }
	answer := p.ask(t, http.MethodGet, "/_foyer/shop/status", "").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(answer.Text), &status); err != nil {
		t.Fatal(err)
	}
	return status.Ticket
}

func TestServe_RefusesTheStateFileOfAnotherProcess(t *testing.T) {
	upstream := httptest.NewServer(http.NotFoundHandler())
	defer upstream.Close()
	folder, configuration := t.TempDir(), fmt.Sprintf(keptGate, upstream.URL)
	serveIn(t, folder, configuration)
	_, stderr, code := foyerIn(t, folder, "serve", "--config", "foyer.yaml")
	if code != 1 {
		t.Errorf("a second process with the same state file exits with %d: %s", code, stderr)
	}
}
