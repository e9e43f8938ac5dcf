package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// waitingProblem is the waiting answer to a program.
type waitingProblem struct {
	Type  string
	Queue struct {
		State    string
		Ticket   int
		Position int
		Poll     int64 `json:"poll_after_ms"`
	}
}

const shopWindow = "<h1>The shop window</h1>"

// storefront is foyer with three places in front of nginx.
func storefront(t *testing.T) *server {
	upstream := nginx(t, map[string]string{"index.html": shopWindow, "sale/index.html": shopWindow})
	return serve(t, fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
gates:
  - name: shop
    upstream: %s
    capacity: 3
    queue: {poll: {min: 500ms, max: 2s}}
`, upstream))
}

func TestServe_TheFourthVisitorWaitsAndIsInSoonAfterTheFirstLeaves(t *testing.T) {
	for _, browser := range []bool{true, false} {
		t.Run(fmt.Sprintf("browser=%v", browser), func(t *testing.T) {
			limit := 500*time.Millisecond*115/100 + time.Second // a poll's longest wait, and a second
			var late []time.Duration
			for range 3 { // once in time will do: a busy machine may be late
				took := handOver(t, browser)
				if took <= limit {
					return
				}
				late = append(late, took)
			}
			t.Errorf("the fourth visitor is in %v after the first one has left, want at most %v", late, limit)
		})
	}
}

// handOver fills a gate, has a fourth visitor wait and the first one leave, and measures until the fourth is in.
func handOver(t *testing.T, browser bool) time.Duration {
	t.Helper()
	s := storefront(t)
	inside := make([]*person, 3)
	for i := range inside {
		inside[i] = newPerson(s.Edge, browser)
		if got := inside[i].ask(t, http.MethodGet, "/sale/", "").want(t, http.StatusOK); got.Text != shopWindow {
			t.Fatalf("visitor %d sees %q, want the shop", i+1, got.Text)
		}
	}
	fourth := newPerson(s.Edge, browser)
	answer := fourth.ask(t, http.MethodGet, "/sale/", "")
	if browser {
		checkWaitingPage(t, answer)
	} else {
		checkWaitingProblem(t, answer)
	}
	inside[0].ask(t, http.MethodPost, "/_foyer/shop/leave", "").want(t, http.StatusNoContent)
	left := time.Now()
	for {
		<-time.After(pollAfter(t, fourth))
		if got := fourth.ask(t, http.MethodGet, "/sale/", ""); got.StatusCode == http.StatusOK && got.Text == shopWindow {
			break
		}
		if time.Since(left) > 20*time.Second {
			t.Fatal("the fourth visitor is not in 20 s after the first one has left")
		}
	}
	took := time.Since(left)
	if got := inside[0].ask(t, http.MethodGet, "/sale/", ""); got.Text == shopWindow {
		t.Error("who has left is still let in")
	}
	return took
}

// pollAfter polls the gate and answers with the interval it was told; nothing for an offer.
func pollAfter(t *testing.T, p *person) time.Duration {
	t.Helper()
	var status struct {
		State string
		Poll  int64 `json:"poll_after_ms"`
	}
	answer := p.ask(t, http.MethodGet, "/_foyer/shop/status", "").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(answer.Text), &status); err != nil {
		t.Fatalf("read the status %q: %v", answer.Text, err)
	}
	if status.State == "offered" {
		return 0
	}
	return time.Duration(status.Poll) * time.Millisecond
}

func checkWaitingPage(t *testing.T, answer reply) {
	t.Helper()
	answer.want(t, http.StatusOK)
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || strings.Contains(answer.Text, shopWindow) {
		t.Errorf("a browser gets %q: %.200s", answer.Header.Get("Content-Type"), answer.Text)
	}
	checkNotStored(t, answer)
	if answer.Header.Get("Refresh") == "" {
		t.Error("the waiting page does not reload without JavaScript")
	}
}

func checkWaitingProblem(t *testing.T, answer reply) {
	t.Helper()
	answer.want(t, http.StatusTooManyRequests)
	if got := answer.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a program gets %q, want a problem", got)
	}
	checkNotStored(t, answer)
	if answer.Header.Get("Retry-After") == "" {
		t.Error("the waiting answer has no Retry-After")
	}
	var problem waitingProblem
	if err := json.Unmarshal([]byte(answer.Text), &problem); err != nil {
		t.Fatal(err)
	}
	if problem.Type != "urn:foyer:waiting" || problem.Queue.State != "waiting" || problem.Queue.Ticket != 4 || problem.Queue.Position != 1 {
		t.Errorf("the waiting answer says %+v", problem)
	}
}

func checkNotStored(t *testing.T, answer reply) {
	t.Helper()
	if got := answer.Header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
		t.Errorf("Cache-Control is %q, want no-store", got)
	}
}
