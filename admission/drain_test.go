package admission_test

import (
	"flag"
	"sync"
	"testing"
	"time"

	"foyer/admission"
)

var whole = flag.Bool("drain-whole", false, "drain lines of the whole size, which takes minutes with the race detector")

// drain is a full line that empties: so many are queued at once, some of whom go without a word.
type drain struct {
	queued, capacity int
	leavers          int // of a hundred
	session          time.Duration
	claim            time.Duration
	pollMin, pollMax time.Duration
	most             float64 // times the ideal
	part             int     // by default only so small a part is queued
}

// drained is how long it took, and what the slots did meanwhile, as parts of their time.
type drained struct {
	took, ideal                    time.Duration
	leased, offered, leaving, idle float64
}

// run empties the line and looks at the slots meanwhile.
func (d drain) run(t *testing.T) (got drained) {
	rules := rules(d.capacity)
	rules.Claim, rules.PollMin, rules.PollMax, rules.Leeway = d.claim, d.pollMin, d.pollMax, d.claim/4
	inBubble(t, rules, 1, func(t *testing.T, g *gate) {
		var wg sync.WaitGroup
		start, stay := time.Now(), 0
		for i := range d.queued {
			goes := i*d.leavers%100 < d.leavers
			if !goes {
				stay++
			}
			wg.Go(func() { d.visit(g.visitor(), goes) })
		}
		got.ideal = time.Duration(stay) * d.session / time.Duration(d.capacity)
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		look, looks := d.session/153, 0.0 // at ever other moments between two ticks
		for {
			select {
			case <-done:
				got.took = time.Since(start)
				for _, part := range []*float64{&got.leased, &got.offered, &got.leaving, &got.idle} {
					*part *= 100 / looks / float64(d.capacity)
				}
				return
			case <-time.After(look):
				info := g.rooms[0].Info()
				looks++
				got.leased += float64(info.Active)
				got.offered += float64(info.Offered)
				got.leaving += float64(info.Leaving)
				got.idle += float64(d.capacity - info.Active - info.Offered - info.Leaving)
			}
		}
	})
	return got
}

// visit is one visitor: waits as told, stays for the session, and leaves; or goes as soon as there is a place in line.
func (d drain) visit(v *visitor, goes bool) {
	for got := v.visit(); !goes; got = v.visit() {
		if got.Outcome == admission.Admit {
			for range 10 { // a lease that was given at once is confirmed by the next request
				time.Sleep(d.session / 10)
				v.visit()
			}
			v.leave()
			return
		}
		for {
			time.Sleep(got.Status.PollAfter)
			if got = v.poll(); got.Status.State != admission.StateWaiting {
				break
			}
		}
	}
}

func TestDrain_TakesLittleMoreThanTheIdeal(t *testing.T) {
	small := drain{queued: 1000, capacity: 100, session: 5 * time.Second, claim: time.Second, pollMin: 200 * time.Millisecond, pollMax: 2 * time.Second, part: 4}
	stay, left := small, small
	stay.most = 1.1
	left.leavers, left.most = 20, 1.15
	b6 := drain{queued: 2000, capacity: 50, leavers: 20, session: time.Minute, claim: 20 * time.Second, pollMin: 2 * time.Second, pollMax: 30 * time.Second, most: 1.1, part: 20}
	for name, d := range map[string]drain{"nobody leaves": stay, "20 % leave": left, "B6": b6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !*whole {
				d.queued, d.capacity = d.queued/d.part, max(d.capacity/d.part, 5)
			}
			got := d.run(t)
			t.Logf("%v, %.3f times the ideal %v; slots were leased %.1f %%, offered %.1f %%, given back %.1f %%, idle %.1f %%",
				got.took, got.took.Seconds()/got.ideal.Seconds(), got.ideal, got.leased, got.offered, got.leaving, got.idle)
			if got.took.Seconds() > d.most*got.ideal.Seconds() {
				t.Errorf("more than %.2f times the ideal", d.most)
			}
		})
	}
}
