package strategy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	const lasts, lockTimeout = 2 * time.Minute, 5 * time.Second
	for _, stages := range []int{1, 2} {
		for _, commit := range []time.Duration{500 * time.Millisecond, 1100 * time.Millisecond, 1900 * time.Millisecond, 2500 * time.Millisecond, 3 * time.Second, 4 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				row := make(chan struct{}, 1)
				var waited, longest atomic.Int64
				last := newBatcher(100, func(_ string, group []int) []outcome[int] {
					asked := time.Now()
					row <- struct{}{}
					waited.Store(max(waited.Load(), int64(time.Since(asked))))
					time.Sleep(commit)
					<-row
					return make([]outcome[int], len(group))
				})
				b := last
				if stages == 2 {
					b = newStage(100, last, func(_ string, members []*member[int, int]) []*member[int, int] { return members })
				}
				start := time.Now()
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
				last.drain()
				if longest := time.Duration(longest.Load()); longest > 3*commit {
					t.Errorf("%d stages: one waited for %v, want at most the commits of three groups, %v", stages, longest, 3*commit)
				}
				if waited := time.Duration(waited.Load()); waited > lockTimeout {
					t.Errorf("%d stages: a group waited for the row for %v, commits take %v", stages, waited, commit)
				}
			})
		}
	}
}

// A group of the second stage begins behind the one that runs when all who were on the way have come: not while some are in the
// stage before, and no third one.
func TestBatcher_TheNextStageGoesAheadOnceAllHaveCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		start := time.Now()
		var mu sync.Mutex
		var began []string
		second := newBatcher(10, func(_ string, group []int) []outcome[int] {
			mu.Lock()
			began = append(began, fmt.Sprint(group, " at ", time.Since(start)))
			mu.Unlock()
			time.Sleep(1000 * ms)
			return make([]outcome[int], len(group))
		})
		first := newStage(10, second, func(_ string, members []*member[int, int]) []*member[int, int] {
			time.Sleep(100 * ms)
			return slices.DeleteFunc(members, func(m *member[int, int]) bool {
				refused := m.request < 0
				if refused {
					m.answered <- outcome[int]{err: errors.New("refused")}
				}
				return refused
			})
		})
		for _, one := range []struct {
			at      time.Duration
			request int
		}{
			{0, 1},             // comes at 100, runs until 1100
			{200, 2}, {250, 3}, // come at 300 and 400, run until 1400
			{500, 4},              // comes at 600: two run
			{1050, 5},             // is on the way at 1100, comes at 1150
			{1200, 6}, {1250, -7}, // come at 1300 and not at all
			{1290, -8}, // is refused at 1390, so that all have come
		} {
			time.AfterFunc(one.at*ms, func() { first.join(t.Context(), "k", one.request) })
		}
		time.Sleep(5 * time.Second)
		first.drain()
		second.drain()
		want := []string{"[1] at 100ms", "[2 3] at 400ms", "[4 5] at 1.15s", "[6] at 1.4s"}
		if !slices.Equal(began, want) {
			t.Errorf("groups %q, want %q", began, want)
		}
	})
}

// Groups of two stages take nothing, or long, or very long, on keys that come and go: at each moment one of a key goes on, in the
// second stage two, and few are slow.
func TestBatcher_AnswersEachOnceHoweverSlowTheGroupsAre(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
			var (
				mu       sync.Mutex
				groups   = map[string]map[int]time.Time{} // that run, with their beginnings
				lasts    []time.Duration                  // of the groups to come
				answered int
			)
			for range 600 {
				some := []time.Duration{0, slowGroup - 1, slowGroup, slowGroup + 1, upTo(time.Minute), upTo(time.Minute)}
				lasts = append(lasts, some[random.IntN(len(some))])
			}
			run := func(key string, beside int) {
				mu.Lock()
				young := 0
				for _, began := range groups[key] {
					if time.Since(began) < slowGroup {
						young++
					}
				}
				if young > beside || len(groups[key]) >= mostSlow+beside {
					t.Errorf("seed %d: a group of %s began beside %d others, %d of them young", seed, key, len(groups[key]), young)
				}
				if groups[key] == nil {
					groups[key] = map[int]time.Time{}
				}
				n := len(lasts) - 1
				lasting := lasts[n]
				lasts = lasts[:n]
				groups[key][n] = time.Now()
				mu.Unlock()
				time.Sleep(lasting)
				mu.Lock()
				delete(groups[key], n)
				mu.Unlock()
			}
			last := newBatcher(3, func(key string, group []int) []outcome[int] {
				run(key+" of the second stage", 1)
				return make([]outcome[int], len(group))
			})
			b := newStage(3, last, func(key string, members []*member[int, int]) []*member[int, int] {
				run(key, 0)
				return members
			})
			asked := 100 + random.IntN(200)
			for n := range asked {
				ctx, leave := context.WithCancel(t.Context())
				answer := b.join(ctx, fmt.Sprint(random.IntN(2)), n)
				if random.IntN(5) == 0 {
					time.AfterFunc(upTo(5*time.Second), leave)
				}
				go func() {
					defer leave()
					<-answer
					mu.Lock()
					defer mu.Unlock()
					answered++
				}()
				if random.IntN(3) == 0 {
					time.Sleep(upTo(3 * time.Second))
				}
			}
			b.drain()
			last.drain()
			synctest.Wait()
			for key, running := range groups {
				if len(running) > 0 {
					t.Errorf("seed %d: %d groups of %s run after the drain", seed, len(running), key)
				}
			}
			if answered != asked || len(b.queues)+len(last.queues) != 0 {
				t.Errorf("seed %d: %d of %d are answered, %d queues are left", seed, answered, asked, len(b.queues)+len(last.queues))
			}
		})
	}
}
