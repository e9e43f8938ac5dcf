package admission

import (
	"math"
	"time"
)

// What an estimate is made from.
const (
	flowEvery  = time.Second     // how often a sample is kept
	flowKeep   = 5 * time.Minute // and for how long
	flowRecent = time.Minute     // the window of a rate, unless too little happened in it
	flowEnough = 20              // so many departures make a window telling
	flowLeast  = 5               // with fewer there is no estimate
)

// flow says how fast a gate moves.
type flow struct {
	PerMinute  float64 // leases given per minute, over the last minute
	Departures int     // how many slots became free in the window the rate is from
	Rate       float64 // slots freed per second; 0: unknown
	Fastest    float64 // tickets given out per second, at the most that was seen
}

// sample is what had happened in the round at one time.
type sample struct {
	at       time.Time
	admitted uint64
	departed uint64 // leases given less leases held: filling an empty gate is no flow
}

// meter measures the flow of a gate from its snapshots. It belongs to the goroutine that syncs.
type meter struct {
	round   string
	samples []sample
	tail    Ticket
	synced  time.Time
	fastest float64
}

// add takes over a snapshot, and answers with the flow up to it.
func (m *meter) add(s *Snapshot) flow {
	held := uint64(0)
	for _, slot := range s.Slots {
		if slot.Kind == Lease {
			held++
		}
	}
	if last := len(m.samples) - 1; m.round == s.Round && last >= 0 && s.Tail > m.tail {
		took := max(s.Now.Sub(m.synced), Tick).Seconds()
		m.fastest = max(m.fastest, float64(s.Tail-m.tail)/took)
	}
	m.tail, m.synced = s.Tail, s.Now
	now := sample{at: s.Now, admitted: s.Admitted, departed: s.Admitted - min(held, s.Admitted)}
	if last := len(m.samples) - 1; m.round != s.Round || last >= 0 && s.Now.Before(m.samples[last].at) {
		m.round, m.samples = s.Round, nil
	}
	if last := len(m.samples) - 1; last < 0 || now.at.Sub(m.samples[last].at) >= flowEvery {
		m.samples = append(m.samples, now)
	}
	for len(m.samples) > 1 && now.at.Sub(m.samples[0].at) > flowKeep {
		m.samples = m.samples[1:]
	}
	return m.flow(now)
}

// flow compares now with the samples: with that a minute ago, or, where too little has happened since, the oldest.
func (m *meter) flow(now sample) (f flow) {
	f.Fastest = m.fastest
	recent := m.samples[0]
	for _, s := range m.samples {
		if now.at.Sub(s.at) >= flowRecent {
			recent = s
		}
	}
	if took := now.at.Sub(recent.at); took >= flowEvery {
		f.PerMinute = float64(now.admitted-min(recent.admitted, now.admitted)) * float64(time.Minute) / float64(took)
	}
	if now.departed < recent.departed+flowEnough {
		recent = m.samples[0]
	}
	took := now.at.Sub(recent.at)
	if took < flowEvery || now.departed < recent.departed+flowLeast {
		return f
	}
	f.Departures = int(now.departed - recent.departed)
	f.Rate = float64(f.Departures) / took.Seconds()
	return f
}

// estimate is when the turn of a position comes, as a range; nil while nobody knows. free slots are given at once, and
// no more than admitRate a minute, if that is not 0. The range is two standard deviations of a Poisson process to
// either side, with the rate itself as uncertain as the departures it was counted from.
func (f flow) estimate(position, free, admitRate int) *Eta {
	mean, certain := 0.0, 1e6
	if behind := position - max(free, 0); behind > 0 {
		if f.Rate == 0 {
			return nil
		}
		mean, certain = float64(behind)/f.Rate, 1/(1/float64(behind)+1/float64(f.Departures))
	}
	if admitRate > 0 {
		mean = max(mean, float64(position)*60/float64(admitRate))
	}
	spread := min(2/math.Sqrt(certain), 0.8)
	seconds := float64(time.Second)
	return &Eta{
		Low:  time.Duration(mean * (1 - spread) * seconds),
		High: time.Duration((mean*(1+spread) + 1) * seconds),
	}
}
