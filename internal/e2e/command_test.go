package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"foyer/internal/services"
)

// commander is a remote upstream whose next answers carry a command to foyer.
type commander struct {
	*httptest.Server
	command atomic.Value // a string; "": none
}

func newCommander(t *testing.T) *commander {
	c := &commander{}
	c.command.Store("")
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if command := c.command.Load().(string); command != "" {
			w.Header().Set("Foyer-Command", command)
		}
		fmt.Fprint(w, shopWindow)
	}))
	t.Cleanup(c.Close)
	return c
}

// TestCommand_StockOfARemoteUpstreamIsHeardByEveryReplica has an upstream say at one replica that nothing is left, and
// later that something is: who waits at the other learns it at the next poll, and so does one that starts later.
func TestCommand_StockOfARemoteUpstreamIsHeardByEveryReplica(t *testing.T) {
	upstream := newCommander(t)
	configuration := fmt.Sprintf(redisGate, services.PrivateRedis(t).URL(), upstream.URL, 1, "1m")
	first, second := serve(t, configuration), serve(t, configuration)
	inside, waits := newPerson(first.Edge, false), newPerson(second.Edge, false)
	says := func(command string) {
		upstream.command.Store(command)
		if answer := arrive(t, inside).want(t, http.StatusOK); answer.Header.Get("Foyer-Command") != "" {
			t.Error("the command reaches the visitor")
		}
		upstream.command.Store("")
	}
	becomes := func(p *person, state string) {
		t.Helper()
		eventually(t, 10*time.Second, "who waits is told "+state, func() bool {
			ticket, got := placeOf(t, p)
			return ticket == 2 && got == state
		})
	}
	arrive(t, inside).want(t, http.StatusOK)
	arrive(t, waits).want(t, http.StatusTooManyRequests)

	says("stock=0")
	becomes(waits, "sold_out")
	wantSoldOut(t, arrive(t, waits))
	newcomer := arrive(t, newPerson(second.Edge, false))
	wantSoldOut(t, newcomer)
	if len(newcomer.Cookies()) > 0 {
		t.Error("a newcomer gets a ticket although nothing is left")
	}
	third := serve(t, configuration)
	wantSoldOut(t, arrive(t, newPerson(third.Edge, false)))

	says("stock=7")
	becomes(waits, "waiting")
	arrive(t, waits).want(t, http.StatusTooManyRequests)
	says("stock=0, release")
	becomes(waits, "offered") // what was held may come back, so the line moves on

	// An offer that a busy machine lets lapse is made again.
	eventually(t, 10*time.Second, "who waits is let in", func() bool {
		return waits.ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusOK
	})
	wantSoldOut(t, arrive(t, newPerson(first.Edge, false)))
	operator := newPerson(third.Admin, false)
	operator.ask(t, http.MethodPatch, "/api/gates/shop", `{"stock":7}`).want(t, http.StatusOK)
	eventually(t, 10*time.Second, "newcomers wait again", func() bool {
		return newPerson(first.Edge, false).ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusTooManyRequests
	})
}

// wantSoldOut wants the answer that tells a program that nothing is left.
func wantSoldOut(t *testing.T, answer reply) {
	t.Helper()
	answer.want(t, http.StatusGone)
	var problem waitingProblem
	if err := json.Unmarshal([]byte(answer.Text), &problem); err != nil || problem.Type != "urn:foyer:sold-out" || problem.Queue.State != "sold_out" {
		t.Errorf("the answer says %s", answer.Text)
	}
	checkNotStored(t, answer)
}

// TestCommand_ExtendOfARemoteUpstreamKeepsASilentBuyerInside has an upstream ask for an hour: a buyer who sends nothing
// stays inside for longer than idle, and not for longer than session.max.
func TestCommand_ExtendOfARemoteUpstreamKeepsASilentBuyerInside(t *testing.T) {
	const idle, most = time.Second, 4 * time.Second
	upstream := newCommander(t)
	gate := fmt.Sprintf(redisGate, services.PrivateRedis(t).URL(), upstream.URL, 1, fmt.Sprintf("%v, max: %v", idle, most))
	s := serve(t, gate)
	silent, next := newPerson(s.Edge, false), newPerson(s.Edge, false)
	upstream.command.Store("extend=3600")
	var began time.Time
	var answer reply
	eventually(t, 10*time.Second, "the store answers in time", func() bool { // as in arrive; the slot is taken in the last try
		began, answer = time.Now(), silent.ask(t, http.MethodGet, "/sale", "")
		return answer.StatusCode != http.StatusServiceUnavailable
	})
	if answer.want(t, http.StatusOK); answer.Header.Get("Foyer-Command") != "" {
		t.Error("the command reaches the visitor")
	}
	upstream.command.Store("")
	arrive(t, next).want(t, http.StatusTooManyRequests)
	eventually(t, 30*time.Second, "the next is let in", func() bool {
		return next.ask(t, http.MethodGet, "/sale", "").StatusCode == http.StatusOK
	})
	if took := time.Since(began); took < most-idle {
		t.Errorf("who sent nothing lost the slot after %v, want %v", took, most)
	}
	if _, state := placeOf(t, silent); state != "ended" {
		t.Errorf("who was inside for longer than session.max is %s", state)
	}
	if strings.Contains(s.log.String(), "lease not extended") {
		t.Error("the lease was not extended")
	}
}
