package admission

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counting is a joiner whose store takes a second for a batch.
func counting() (*joiner, *[]int) {
	batches, next := &[]int{}, Ticket(1)
	return &joiner{wake: make(chan struct{}, 1), join: func(n int) (all []arrived) {
		time.Sleep(time.Second)
		*batches = append(*batches, n)
		for range n {
			all = append(all, arrived{ticket: next})
			next++
		}
		return all
	}}, batches
}

func TestJoiner_KeepsTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, batches := counting()
		ctx, cancel := context.WithCancel(t.Context())
		var running, asking sync.WaitGroup
		running.Go(func() { j.run(ctx) })
		got := make([]Ticket, 100)
		for i := range got {
			asking.Go(func() {
				time.Sleep(time.Duration(i) * 37 * time.Millisecond)
				one, _ := j.ask(ctx)
				got[i] = one.ticket
			})
		}
		asking.Wait()
		for i, ticket := range got {
			if ticket != Ticket(i+1) {
				t.Fatalf("arrival %d got ticket %d", i+1, ticket)
			}
		}
		if len(*batches) > 6 {
			t.Errorf("%d batches for four seconds", len(*batches))
		}
		cancel()
		running.Wait()
		if _, ok := j.ask(context.Background()); ok {
			t.Error("a joiner that has ended gives tickets")
		}
	})
}

func TestJoiner_SpendsNoTicketOnWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, batches := counting()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go j.run(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { j.ask(ctx) })
		time.Sleep(10 * time.Millisecond)
		gone, leave := context.WithCancel(ctx)
		for range 5 {
			wg.Go(func() {
				if _, ok := j.ask(gone); ok {
					t.Error("somebody who has gone got a ticket")
				}
			})
		}
		wg.Go(func() { j.ask(ctx) })
		synctest.Wait()
		leave()
		wg.Wait()
		if len(*batches) != 2 || (*batches)[1] != 1 {
			t.Errorf("batches %v, want the second of 1", *batches)
		}
	})
}
