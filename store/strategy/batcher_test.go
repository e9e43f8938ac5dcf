package strategy

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatcher_JoinsWhatArrivesMeanwhileInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups [][]int
		b := newBatcher(1, 3, func(_ string, group []int) []outcome[int] {
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

func TestBatcher_GroupsThatRunAtOnceShareWhoIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		row := make(chan struct{}, 1) // for which the groups queue
		b := newBatcher(2, 100, func(_ string, group []int) []outcome[int] {
			row <- struct{}{}
			sizes = append(sizes, len(group))
			time.Sleep(time.Second)
			<-row
			return make([]outcome[int], len(group))
		})
		const members, times = 30, 10
		for n := range members {
			go func() {
				for range times {
					<-b.join(t.Context(), "k", n)
				}
			}()
		}
		synctest.Wait()
		time.Sleep(times * members * time.Second)
		b.drain()
		settled := sizes[len(sizes)/4 : len(sizes)*3/4]
		if low, high := slices.Min(settled), slices.Max(settled); 4*low < high {
			t.Errorf("groups of %d to %d", low, high)
		}
		if total := sum(sizes); total != members*times {
			t.Errorf("%d members ran", total)
		}
	})
}

func TestBatcher_KeysDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatcher(1, 3, func(key string, group []int) []outcome[int] {
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
		b := newBatcher(1, 10, func(_ string, group []int) []outcome[int] {
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

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}
