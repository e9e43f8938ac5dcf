package loadtest

import (
	"testing"
	"time"
)

// told has a visitor who is fresh at every answer wait from one second to another.
func told(j *Judge, visitor int, ticket uint64, start time.Time, from, to float64) {
	for at := from; at <= to; at += 0.2 {
		now := start.Add(time.Duration(at * float64(time.Second)))
		j.Told(visitor, Place{State: "waiting", Ticket: ticket, AsOf: now, Again: 200 * time.Millisecond}, now)
	}
}

func TestJudge_SeesWhoWasPassedOver(t *testing.T) {
	start := time.Now()
	second := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	for name, test := range map[string]struct {
		happens func(*Judge)
		want    int
	}{
		"a later ticket passes one who waits": {func(j *Judge) {
			told(j, 1, 10, start, 0, 5)
			j.Admitted(2, 11, second(2), second(3))
		}, 1},
		"an earlier ticket passes nobody": {func(j *Judge) {
			told(j, 1, 10, start, 0, 5)
			j.Admitted(2, 9, second(2), second(3))
		}, 0},
		"who was offered first may come later": {func(j *Judge) {
			told(j, 1, 10, start, 0, 2.5)
			j.Told(1, Place{State: "offered", Ticket: 10, AsOf: second(2.6)}, second(2.6))
			j.Admitted(2, 11, second(2), second(2.7))
			j.Admitted(1, 10, second(2.4), second(3))
		}, 0},
		"who was silent is not passed over": {func(j *Judge) {
			told(j, 1, 10, start, 0, 1)
			told(j, 1, 10, start, 4, 5)
			j.Admitted(2, 11, second(2), second(3))
		}, 0},
		"who got no answer is not passed over": {func(j *Judge) {
			told(j, 1, 10, start, 0, 1)
			j.Broke(1)
			told(j, 1, 10, start, 1.2, 5)
			j.Admitted(2, 11, second(1.3), second(1.6))
		}, 0},
		"nor who was answered from an old view": {func(j *Judge) {
			j.Told(1, Place{State: "waiting", Ticket: 10, AsOf: second(0), Again: time.Minute}, second(0))
			j.Told(1, Place{State: "waiting", Ticket: 10, AsOf: second(0), Again: time.Minute}, second(9))
			j.Admitted(2, 11, second(2), second(3))
		}, 0},
	} {
		j := NewJudge()
		test.happens(j)
		if got := j.Inversions(); got != test.want {
			t.Errorf("%s: %d inversions, want %d", name, got, test.want)
		}
	}
}

func TestJudge_FindsTheNextAdmission(t *testing.T) {
	start, j := time.Now(), NewJudge()
	for i := range 5 {
		at := start.Add(time.Duration(i) * time.Second)
		j.Admitted(i, uint64(i+1), at.Add(-100*time.Millisecond), at)
	}
	if got := j.NextAdmission(start.Add(1500 * time.Millisecond)); !got.Equal(start.Add(2 * time.Second)) {
		t.Errorf("%v after the start", got.Sub(start))
	}
	if got := j.NextAdmission(start.Add(time.Minute)); !got.IsZero() {
		t.Error("there was none")
	}
}
