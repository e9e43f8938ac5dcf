package admission

import (
	"testing"
	"time"
)

func TestSessions_CountAnOldCopyOfAPassOnce(t *testing.T) {
	var s sessions
	s.inflight.Store(1)
	now := time.Now()
	for _, step := range []struct {
		after      time.Duration
		generation int
		want       bool
	}{
		{0, 1, false},
		{0, 2, false},
		{time.Second, 1, false}, // a phone that lost an answer
		{2 * time.Minute, 1, true},
		{2*time.Minute + time.Second, 1, false},
		{4 * time.Minute, 2, false},
	} {
		if got := s.show(7, step.generation, now.Add(step.after)); got != step.want {
			t.Errorf("generation %d after %v: shared %v, want %v", step.generation, step.after, got, step.want)
		}
	}
}

func TestSessions_KeepNothingOfLeasesThatAreOver(t *testing.T) {
	var s sessions
	s.inflight.Store(1)
	v := theView(theRules)
	for ticket := range Ticket(1000) {
		s.mayRenew(ticket, now0)
	}
	leave, _ := s.enter(t.Context(), 500, now0)
	s.follow(v, now0.Add(2*time.Second))
	if len(s.open) != 4 { // 60, 70, 71 have leases, 500 a request in flight
		t.Errorf("%d sessions are kept", len(s.open))
	}
	leave()
	s.follow(v, now0.Add(4*time.Second))
	if len(s.open) != 3 || len(s.busy()) != 0 {
		t.Errorf("%d sessions are kept, %d busy", len(s.open), len(s.busy()))
	}
}
