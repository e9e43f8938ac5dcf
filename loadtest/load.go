package loadtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Mix says how many guests have which habits, as shares from 0 to 1.
type Mix struct {
	Leavers  float64 // go without a word: half of them in line, half inside
	Sleepers float64 // are silent for a while in line
	Copiers  float64 // ask from a second tab as well
	Buyers   float64 // buy a unit of Event
	Event    string
	Stay     time.Duration // inside, on average; between half and one and a half of it
	Pages    int
	Sleep    time.Duration
	Patience time.Duration // negative: without end
}

// Load is a load test: guests who arrive at a rate, whether or not the gate keeps up with them.
type Load struct {
	Party  Party
	Guests int
	Rate   float64 // arrivals a second
	Mix    Mix
	Slots  *Slots // nil: nobody looks at the slots
}

// Findings are what a load test has found.
type Findings struct {
	Guests     int           `json:"guests"`
	Ends       map[End]int   `json:"ends"`
	Took       time.Duration `json:"took_ns"`
	Retries    int           `json:"requests_without_answer"`
	Peak       int           `json:"peak"`     // inside at once, by the upstream; -1: not counted
	Capacity   int           `json:"capacity"` // 0: not known
	OverK      int           `json:"over_k"`
	Inversions int           `json:"inversions"`
	Lost       []string      `json:"lost_places"`
	PutOut     int           `json:"put_out"`
	Slots      *SlotTime     `json:"slots,omitempty"`
	WaitP50    time.Duration `json:"wait_p50_ns"`
	WaitP95    time.Duration `json:"wait_p95_ns"`
	WaitMax    time.Duration `json:"wait_max_ns"`
	Failure    string        `json:"failure,omitempty"` // the first visit that broke
}

// habits are those of one guest; the same number always has the same.
func (m Mix) habits(number int) Habits {
	dice := rand.New(rand.NewPCG(uint64(number), 1))
	h := Habits{Patience: m.Patience, Pages: m.Pages, Stay: time.Duration((0.5 + dice.Float64()) * float64(m.Stay))}
	if dice.Float64() < m.Leavers {
		if dice.IntN(2) == 0 {
			h.VanishesIn = true
		} else {
			h.VanishesAfter = 1 + dice.IntN(6)
		}
	}
	if dice.Float64() < m.Sleepers {
		h.SleepsAfter, h.Sleep = 1+dice.IntN(6), time.Duration((0.5+dice.Float64())*float64(m.Sleep))
	}
	h.Copies = dice.Float64() < m.Copiers
	if dice.Float64() < m.Buyers {
		h.Event = m.Event
	}
	return h
}

// Run sends the guests and waits until every visit has ended, or ctx has. progress, if not nil, is called with the
// tally ten times a second.
func (l Load) Run(ctx context.Context, capacity int, progress func(*Tally)) Findings {
	tally := NewTally()
	looking, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	if l.Slots != nil {
		beside.Go(func() { l.Slots.Run(looking) })
	}
	if progress != nil {
		beside.Go(func() {
			for pause(looking, 100*time.Millisecond) == nil {
				progress(tally)
			}
		})
	}
	var retries atomic.Int64
	started := time.Now()
	Crowd{
		People: l.Guests, Over: time.Duration(float64(l.Guests) / l.Rate * float64(time.Second)),
		Visit: func(ctx context.Context, i int) Outcome {
			guest := NewGuest(l.Party, i, l.Mix.habits(i))
			outcome := guest.Run(ctx)
			retries.Add(int64(guest.Retries()))
			return outcome
		},
	}.Run(ctx, tally)
	took := time.Since(started)
	stop()
	beside.Wait()
	found := l.find(tally, capacity)
	found.Took, found.Retries = took, int(retries.Load())
	return found
}

// find puts the findings together.
func (l Load) find(tally *Tally, capacity int) Findings {
	found := Findings{
		Guests: tally.Arrived(), Ends: tally.Ends(), Peak: -1, Capacity: capacity,
		Inversions: l.Party.Judge.Inversions(), Lost: l.Party.Judge.LostPlaces(), PutOut: l.Party.Judge.PutOuts(),
		WaitP50: tally.Waits.Quantile(50), WaitP95: tally.Waits.Quantile(95), WaitMax: tally.Waits.Quantile(100),
	}
	if err := tally.Failure(); err != nil {
		found.Failure = err.Error()
	}
	if l.Slots != nil {
		slots := l.Slots.Time()
		found.Slots = &slots
		if found.Capacity == 0 {
			found.Capacity = slots.Capacity
		}
	}
	if l.Party.Meter != nil {
		found.Peak = l.Party.Meter.Peak()
		if found.Capacity > 0 {
			found.OverK = max(0, found.Peak-found.Capacity)
		}
	}
	return found
}
