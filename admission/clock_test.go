package admission

import (
	"testing"
	"time"
)

func TestClock_TellsTheStoresTimeWhateverTheLocalOne(t *testing.T) {
	start := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for _, off := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		local := start.Add(off)
		c := &clock{local: func() time.Time { return local }}
		for i := range 50 {
			asked := local
			there, back := time.Duration(i%7)*10*time.Millisecond, time.Duration(i%3)*10*time.Millisecond
			shown := asked.Add(there - off)
			local = asked.Add(there + back)
			c.learn(shown, asked, local)
			local = local.Add(100 * time.Millisecond)
		}
		if got, want := c.now(), local.Add(-off); got.Sub(want).Abs() > 2*time.Millisecond {
			t.Errorf("off by %v: the store's time is told %v wrong", off, got.Sub(want))
		}
	}
}

func TestClock_FollowsAStep(t *testing.T) {
	local := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	c := &clock{local: func() time.Time { return local }}
	c.learn(local, local, local.Add(time.Millisecond))
	c.learn(local.Add(time.Hour), local, local.Add(time.Millisecond))
	if got := c.now().Sub(local); (got - time.Hour).Abs() > 10*time.Millisecond {
		t.Errorf("the store is told to be %v ahead, want an hour", got)
	}
}
