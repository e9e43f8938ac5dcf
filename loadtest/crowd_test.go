package loadtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestCrowd_ArrivesOnScheduleWhateverTheAnswersTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, arrivals, tally := time.Now(), make(chan time.Duration, 5), NewTally()
		Crowd{People: 5, Over: 5 * time.Second, Visit: func(ctx context.Context, i int) Outcome {
			arrivals <- time.Since(started)
			_ = pause(ctx, time.Minute)
			return Outcome{End: Bought, Waited: time.Duration(i) * time.Second, Order: "o"}
		}}.Run(t.Context(), tally)
		close(arrivals)
		var got []time.Duration
		for at := range arrivals {
			got = append(got, at)
		}
		want := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}
		if !slices.Equal(got, want) {
			t.Errorf("arrivals at %v, want %v", got, want)
		}
		if tally.Ends()[Bought] != 5 || len(tally.Orders()) != 5 || tally.Waits.Count() != 5 {
			t.Errorf("tally %v, %d orders, %d waits; want 5 of each", tally.Ends(), len(tally.Orders()), tally.Waits.Count())
		}
	})
}

func TestCrowd_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		tally, broke := NewTally(), errors.New("broke")
		Crowd{People: 100, Over: 100 * time.Minute, Visit: func(ctx context.Context, _ int) Outcome {
			<-ctx.Done()
			return Outcome{End: Failed, Err: broke}
		}}.Run(ctx, tally)
		if tally.Arrived() != 2 || !errors.Is(tally.Failure(), broke) {
			t.Errorf("%d arrived, failure %v; want 2 and the first error", tally.Arrived(), tally.Failure())
		}
	})
}
