package admission

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// viewOf is a view of an open gate in which so many wait.
func viewOf(waiting int, rules Rules, now time.Time) *view {
	set := Bitmap{}
	for i := range waiting {
		set.Set(Ticket(100 + i))
	}
	return newView(nil, Snapshot{
		Standing: Standing{Now: now, Round: "r"}, Rules: rules, Tail: Ticket(99 + waiting), Waiting: set, EndedAll: true,
	}, flow{})
}

func TestPace_StaysWithinTheLivenessWindows(t *testing.T) {
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		least := time.Duration(rapid.IntRange(100, 5000).Draw(t, "min")) * time.Millisecond
		rules := Rules{
			Capacity: rapid.IntRange(1, 100).Draw(t, "capacity"), Mode: ModeOn, PollMin: least,
			PollMax: least * time.Duration(rapid.IntRange(1, 20).Draw(t, "max")),
		}
		if rapid.Bool().Draw(t, "lobby") {
			rules.OpensAt = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "opens")) * time.Second)
		}
		v := viewOf(0, rules, now)
		v.flow.Rate = rapid.Float64Range(0, 100).Draw(t, "rate")
		position, dice := rapid.IntRange(1, 1_000_000).Draw(t, "position"), rapid.Float64Range(0, 0.999).Draw(t, "dice")
		family, after := v.pace(position, now, dice)
		window := rules.FarWindow()
		if family == Near {
			window = rules.NearWindow()
		}
		if after >= window || after < least*85/100-time.Millisecond {
			t.Fatalf("family %d is told %v with a window of %v", family, after, window)
		}
		if position <= 5*rules.Capacity && rules.OpensAt.IsZero() && family != Near {
			t.Fatalf("position %d of capacity %d is far", position, rules.Capacity)
		}
	})
}

func TestPace_ReachesAsFarAsTheLineMovesInTwoFarWindows(t *testing.T) {
	now := time.Now()
	v := viewOf(0, Rules{Capacity: 10, Mode: ModeOn, PollMin: time.Second, PollMax: 10 * time.Second}, now)
	v.flow.Rate = 20 // 480 in two windows of 12 s
	for position, want := range map[int]Family{50: Near, 489: Near, 491: Far} {
		if got, _ := v.pace(position, now, 0.5); got != want {
			t.Errorf("position %d is in family %d, want %d", position, got, want)
		}
	}
	_, near := v.pace(600, now, 0.5)
	_, far := v.pace(50_000, now, 0.5)
	if near >= far || far != 10*time.Second {
		t.Errorf("position 600 is told %v, 50,000 %v", near, far)
	}
}
