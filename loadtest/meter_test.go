package loadtest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestMeter_CountsTheTimeBetweenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &Meter{Who: func(r *http.Request) string { return r.Header.Get("X-Foyer-Visitor") }}
		handler := meter.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }))
		ask := func(who string) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("X-Foyer-Visitor", who)
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		ask("anna")
		time.Sleep(time.Minute)
		ask("bert") // comes while anna is between two requests
		ask("")     // nobody
		time.Sleep(time.Minute)
		ask("anna")
		time.Sleep(time.Minute)
		ask("cleo") // comes after both
		if meter.Peak() != 2 || meter.People() != 3 {
			t.Errorf("peak %d of %d people, want 2 of 3", meter.Peak(), meter.People())
		}
	})
}

func TestMeter_CountsATieAgainstTheGate(t *testing.T) {
	at := time.Unix(0, 0)
	meter := &Meter{stays: map[string][]stay{
		"anna": {{from: at, to: at.Add(time.Second)}},
		"bert": {{from: at.Add(time.Second), to: at.Add(2 * time.Second)}},
	}}
	if peak := meter.Peak(); peak != 2 {
		t.Errorf("peak %d, want 2", peak)
	}
}

func TestMeter_ASilenceOrBeingToldToWaitEndsAStay(t *testing.T) {
	start := time.Now()
	second := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	meter := Meter{Silence: 3 * time.Second}
	for _, at := range []int{0, 2, 10, 12} { // away from 2 to 10
		meter.note("a", second(at))
	}
	meter.note("b", second(4))
	meter.note("b", second(6))
	if peak := meter.Peak(); peak != 1 {
		t.Errorf("peak %d, want 1: a was away while b was inside", peak)
	}
	meter.End("b")
	meter.note("b", second(8))
	meter.note("c", second(7))
	if peak := meter.Peak(); peak != 1 {
		t.Errorf("peak %d, want 1: b was told to wait while c was inside", peak)
	}
	meter.note("c", second(8))
	if peak := meter.Peak(); peak != 2 {
		t.Errorf("peak %d, want 2", peak)
	}
}
