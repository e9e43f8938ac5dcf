package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// sampleEvery is how often the slots are looked at.
const sampleEvery = 50 * time.Millisecond

// heldUp is how late a look begins on a machine that has no time for it, nor for the gate: such a look stands for no time.
const heldUp = 200 * time.Millisecond

// Slots looks, again and again, at what operators are told of a gate, and adds up what its slots did while somebody
// live waited.
type Slots struct {
	Admins []string // base URLs of the replicas' admin listeners
	Gate   string
	Token  string // of the admin API; empty: none

	mu   sync.Mutex
	sum  SlotTime
	last gateState
	seen map[string]lapses
}

// lapses are the offers that one replica has seen lapse: it counts those of tickets that may come back.
type lapses struct {
	now, sum int
	fresh    bool // it answered the last time: what it has counted since then is new
}

// SlotTime is the time of all slots, summed, while somebody live waited. Its parts do not overlap.
type SlotTime struct {
	Capacity int           `json:"capacity"`
	Sampled  int           `json:"samples"`
	Leased   time.Duration `json:"leased_ns"`
	Offered  time.Duration `json:"offered_ns"`
	Leaving  time.Duration `json:"given_back_ns"` // given back, and free two ticks later
	Idle     time.Duration `json:"idle_ns"`       // none of these
	Paused   time.Duration `json:"paused_ns"`     // the same while the store was away or offers were put off; no part of Idle
	Most     int           `json:"most"`          // slots taken at once
	Lapsed   int           `json:"lapsed_offers"`
}

// gateState is what the admin API says, as far as it is needed.
type gateState struct {
	Mode                      string
	Capacity, Active, Offered int
	Leaving, Lapsed, Waiting  int
	Store                     string
	AsOf                      time.Time  `json:"as_of"`
	GivesAt                   *time.Time `json:"gives_at"`
}

// Run looks until ctx ends.
func (s *Slots) Run(ctx context.Context) {
	client := http.Client{Timeout: 500 * time.Millisecond}
	last := time.Now()
	for pause(ctx, sampleEvery) == nil {
		onTime := time.Since(last) <= sampleEvery+heldUp // last is when the pause began
		best, known := gateState{}, false
		for _, admin := range s.Admins {
			state, err := s.fetch(ctx, &client, admin)
			s.count(admin, state.Lapsed, err == nil)
			if err == nil && (!known || state.AsOf.After(best.AsOf)) {
				best, known = state, true
			}
		}
		now := time.Now()
		switch {
		case known && onTime:
			s.add(best, now, now.Sub(last))
		case known:
			s.add(best, now, 0)
		}
		last = now
	}
}

// Time is what has been added up so far.
func (s *Slots) Time() SlotTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}

// Now is the gate as it was seen last: slots taken, and who waits.
func (s *Slots) Now() (inside, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Active + s.last.Offered, s.last.Waiting
}

// fetch asks one replica.
func (s *Slots) fetch(ctx context.Context, client *http.Client, admin string) (state gateState, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, admin+"/api/gates/"+s.Gate, nil)
	if err != nil {
		return state, fmt.Errorf("ask for gate %s: %w", s.Gate, err)
	}
	if s.Token != "" {
		request.Header.Set("Authorization", "Bearer "+s.Token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return state, fmt.Errorf("ask for gate %s: %w", s.Gate, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return state, fmt.Errorf("ask for gate %s: status %d", s.Gate, answer.StatusCode)
	}
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		return state, fmt.Errorf("read gate %s: %w", s.Gate, err)
	}
	return state, nil
}

// count takes over how many offers a replica says have lapsed. Each sees all of them, while it runs and hears from the
// store, so the most that any has seen is closest to the truth.
func (s *Slots) count(admin string, lapsed int, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]lapses{}
	}
	l := s.seen[admin]
	if answered && l.fresh {
		l.sum += max(0, lapsed-l.now)
	}
	l.now, l.fresh = lapsed, answered
	s.seen[admin] = l
	s.sum.Lapsed = max(s.sum.Lapsed, l.sum)
}

// add takes over one look, which stands for the time since the one before.
func (s *Slots) add(state gateState, now time.Time, since time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := state.Active + state.Offered + state.Leaving
	s.sum.Capacity, s.sum.Most = state.Capacity, max(s.sum.Most, taken)
	s.last = state
	if state.Waiting == 0 {
		return
	}
	s.sum.Sampled++
	idle := since * time.Duration(min(max(0, state.Capacity-taken), state.Waiting))
	s.sum.Leased += since * time.Duration(state.Active)
	s.sum.Offered += since * time.Duration(state.Offered)
	s.sum.Leaving += since * time.Duration(state.Leaving)
	if state.Store != "ok" || state.Mode == "paused" || state.GivesAt != nil && now.Before(*state.GivesAt) {
		s.sum.Paused += idle
	} else {
		s.sum.Idle += idle
	}
}

// IdleShare is the part of the slots' time outside pauses in which they were idle, 0 to 1.
func (t SlotTime) IdleShare() float64 {
	total := t.Leased + t.Offered + t.Leaving + t.Idle
	if total == 0 {
		return 0
	}
	return float64(t.Idle) / float64(total)
}
