package strategy

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatcher_JoinsWhatArrivesMeanwhileInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups [][]int
		b := newBatcher(3, func(_ string, group []int) []outcome[int] {
			time.Sleep(time.Second)
			groups = append(groups, group)
			out := make([]outcome[int], len(group))
			for i, n := range group {
				out[i].answer = n * n
			}
			return out
		})
		var answers []<-chan outcome[int]
		for n := range 6 {
			answers = append(answers, b.join(t.Context(), "k", n))
			synctest.Wait()
		}
		for n, answered := range answers {
			if got := <-answered; got.answer != n*n || got.err != nil {
				t.Errorf("%d: %+v", n, got)
			}
		}
		b.drain()
		want := [][]int{{0}, {1, 2, 3}, {4, 5}}
		if !slices.EqualFunc(groups, want, slices.Equal) {
			t.Errorf("groups %v, want %v", groups, want)
		}
		if len(b.queues) != 0 {
			t.Errorf("%d queues are left", len(b.queues))
		}
	})
}

func TestBatcher_TheFirstToJoinDoesNotGoAloneWhileOthersAreAboutTo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that they come one after the other
	var sizes []int
	b := newBatcher(100, func(_ string, group []int) []outcome[int] {
		sizes = append(sizes, len(group))
		return make([]outcome[int], len(group))
	})
	var wg sync.WaitGroup
	for n := range 30 {
		wg.Go(func() { <-b.join(t.Context(), "k", n) })
	}
	wg.Wait()
	b.drain()
	if len(sizes) != 1 {
		t.Errorf("groups of %v, want one of all", sizes)
	}
}

func TestBatcher_AFullGroupDoesNotWaitForWhoeverKeepsComing(t *testing.T) {
	const most = 10
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that each yield brings one more
	var ran atomic.Bool
	b := newBatcher(most, func(_ string, group []int) []outcome[int] {
		ran.Store(true)
		return make([]outcome[int], len(group))
	})
	joined := 0
	for ; joined < 1000*most && !ran.Load(); joined++ {
		b.join(t.Context(), "k", joined)
		runtime.Gosched()
	}
	b.drain()
	if joined > 2*most {
		t.Errorf("the first group of at most %d began when %d had joined", most, joined)
	}
}

func TestBatcher_KeysDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatcher(3, func(key string, group []int) []outcome[int] {
			if key == "slow" {
				time.Sleep(time.Hour)
			}
			return make([]outcome[int], len(group))
		})
		slow := b.join(t.Context(), "slow", 1)
		start := time.Now()
		<-b.join(t.Context(), "quick", 1)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		<-slow
		b.drain()
	})
}

func TestBatcher_WhoeverLeavesBeforeHisGroupIsNotInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []int
		b := newBatcher(10, func(_ string, group []int) []outcome[int] {
			time.Sleep(time.Second)
			ran = append(ran, group...)
			return make([]outcome[int], len(group))
		})
		first := b.join(t.Context(), "k", 1)
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		left, stays := b.join(ctx, "k", 2), b.join(t.Context(), "k", 3)
		leave()
		if _, err := await(ctx, left); !errors.Is(err, context.Canceled) {
			t.Errorf("err %v", err)
		}
		<-first
		<-stays
		b.drain()
		if !slices.Equal(ran, []int{1, 3}) {
			t.Errorf("ran %v", ran)
		}
	})
}

func TestBatcher_OthersGoOnWithoutASlowGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hangs = time.Minute
		b := newBatcher(1, func(_ string, group []int) []outcome[int] {
			if group[0] < 0 {
				time.Sleep(hangs)
			}
			return make([]outcome[int], len(group))
		})
		start := time.Now()
		join := func(n int) func() time.Duration {
			answered := b.join(t.Context(), "k", n)
			synctest.Wait()
			return func() time.Duration { <-answered; return time.Since(start) }
		}
		first, second, third := join(-1), join(1), join(2)
		if at := second(); at != slowGroup {
			t.Errorf("the second was answered after %v, want %v", at, slowGroup)
		}
		if at := third(); at != slowGroup {
			t.Errorf("the third was answered after %v, want %v", at, slowGroup)
		}
		if at := join(3)(); at != slowGroup {
			t.Errorf("one that came later was answered after %v, want %v", at, slowGroup)
		}
		if at := first(); at != hangs {
			t.Errorf("the slow one was answered after %v, want %v", at, hangs)
		}
		b.drain()
		if len(b.queues) != 0 {
			t.Errorf("%d queues are left", len(b.queues))
		}
	})
}

func TestBatcher_NoMoreThanAFewSlowGroupsAreLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		b := newBatcher(1, func(_ string, group []int) []outcome[int] {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Minute)
			running.Add(-1)
			return make([]outcome[int], len(group))
		})
		var answers []<-chan outcome[int]
		for n := range 3 * mostSlow {
			answers = append(answers, b.join(t.Context(), "k", n))
		}
		for _, answered := range answers {
			<-answered
		}
		b.drain()
		if most.Load() != mostSlow {
			t.Errorf("%d groups ran at once, want %d", most.Load(), mostSlow)
		}
		if len(b.queues) != 0 {
			t.Errorf("%d queues are left", len(b.queues))
		}
	})
}

// Each group waits for the row that the one before it has: were another let in every two seconds, they would wait for each other
// for longer and longer, until the database ends them.
func TestBatcher_ARowThatIsSlowIsNotMadeSlowerByThoseWhoGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const commit, lasts = 3 * time.Second, 2 * time.Minute
		row := make(chan struct{}, 1)
		b := newBatcher(100, func(_ string, group []int) []outcome[int] {
			row <- struct{}{}
			time.Sleep(commit)
			<-row
			return make([]outcome[int], len(group))
		})
		start := time.Now()
		var longest atomic.Int64
		var buyers sync.WaitGroup
		for n := range 20 {
			buyers.Go(func() {
				time.Sleep(time.Duration(n) * commit / 5) // one after the other
				for time.Since(start) < lasts {
					asked := time.Now()
					<-b.join(t.Context(), "k", n)
					longest.Store(max(longest.Load(), int64(time.Since(asked))))
				}
			})
		}
		buyers.Wait()
		b.drain()
		if longest := time.Duration(longest.Load()); longest > 3*commit {
			t.Errorf("one waited for %v, want at most the commits of three groups, %v", longest, 3*commit)
		}
	})
}
