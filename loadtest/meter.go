package loadtest

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Meter measures at an origin how many people are inside at once, without asking any gate. Somebody is inside from the
// start of his first request to the end of his last answer, with all the time between. Whether an answer was the last
// is known only afterwards, so Peak is computed from what was noted when it is asked for.
type Meter struct {
	// Who names the person behind a request; "" is not counted. It is called on every request.
	Who func(*http.Request) string
	// Silence, if set, ends a stay: whoever asks for nothing for longer is not inside meanwhile. It is at most the gate's
	// session.idle, so that a lease that lasts covers the whole stay.
	Silence time.Duration

	mu    sync.Mutex
	stays map[string][]stay // by person, the last one open
	ended map[string]bool   // whose last stay is known to be over
}

// stay is somebody's time inside.
type stay struct{ from, to time.Time }

// Wrap has the meter note every request that reaches next.
func (m *Meter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := m.Who(r)
		if who == "" {
			next.ServeHTTP(w, r)
			return
		}
		m.note(who, time.Now())
		defer func() { m.note(who, time.Now()) }()
		next.ServeHTTP(w, r)
	})
}

// Peak is the highest number of people who were inside at the same instant.
func (m *Meter) Peak() int {
	type turn struct {
		at    time.Time
		enter bool
	}
	m.mu.Lock()
	turns := make([]turn, 0, 2*len(m.stays))
	for _, stays := range m.stays {
		for _, s := range stays {
			turns = append(turns, turn{s.from, true}, turn{s.to, false})
		}
	}
	m.mu.Unlock()
	slices.SortFunc(turns, func(a, b turn) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return cmp.Compare(rank(a.enter), rank(b.enter))
	})
	inside, peak := 0, 0
	for _, t := range turns {
		if t.enter {
			inside++
		} else {
			inside--
		}
		peak = max(peak, inside)
	}
	return peak
}

// People is how many were inside at all.
func (m *Meter) People() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.stays)
}

// rank puts who enters before who leaves at the same instant, so that a tie is counted against the gate.
func rank(enter bool) int {
	if enter {
		return 0
	}
	return 1
}

// End ends the stay of somebody who was told to wait again; the next request begins another.
func (m *Meter) End(who string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended == nil {
		m.ended = map[string]bool{}
	}
	m.ended[who] = true
}

// note widens the stay of somebody to hold the instant at, or begins another.
func (m *Meter) note(who string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stays == nil {
		m.stays = map[string][]stay{}
	}
	stays := m.stays[who]
	n := len(stays)
	if n == 0 || m.ended[who] || m.Silence > 0 && at.Sub(stays[n-1].to) > m.Silence {
		delete(m.ended, who)
		m.stays[who] = append(stays, stay{at, at})
		return
	}
	stays[n-1].to = at
}
