package admission

import (
	"testing"
	"time"
)

// at builds the snapshot of a moment.
func snapshotAt(now time.Time, admitted uint64, held int, tail Ticket) *Snapshot {
	s := &Snapshot{Standing: Standing{Now: now, Round: "r"}, Admitted: admitted, Tail: tail}
	for i := range held {
		s.Slots = append(s.Slots, Slot{Ticket: Ticket(i + 1), Kind: Lease})
	}
	return s
}

func TestMeter_FillingAnEmptyGateIsNoFlow(t *testing.T) {
	var m meter
	now := time.Now()
	for i := range 100 {
		f := m.add(snapshotAt(now.Add(time.Duration(i)*Tick), uint64(min(i*10, 500)), min(i*10, 500), 0))
		if f.Rate != 0 {
			t.Fatalf("while it fills the gate is said to move by %v a second", f.Rate)
		}
	}
}

func TestMeter_MeasuresWhatLeaves(t *testing.T) {
	var m meter
	now := time.Now()
	var f flow
	for i := range 1200 { // two minutes, five leave and enter a second
		f = m.add(snapshotAt(now.Add(time.Duration(i)*Tick), uint64(50+i/2), 50, Ticket(100+i)))
	}
	if f.Rate < 4.8 || f.Rate > 5.2 || f.PerMinute < 290 || f.PerMinute > 310 {
		t.Errorf("flow %+v, want 5 a second and 300 a minute", f)
	}
	if m.fastest < 9.9 || m.fastest > 10.1 {
		t.Errorf("fastest %v, want 10 tickets a second", m.fastest)
	}
	if len(m.samples) > 302 {
		t.Errorf("%d samples are kept", len(m.samples))
	}
	m.add(&Snapshot{Standing: Standing{Now: now.Add(3 * time.Minute), Round: "next"}})
	if len(m.samples) != 1 {
		t.Error("a new round goes on with the old one's flow")
	}
}

func TestEstimate_IsARangeOrNothing(t *testing.T) {
	steady := flow{Rate: 2, Departures: 100}
	for name, test := range map[string]struct {
		flow                 flow
		position, free, rate int
		low, high            time.Duration // bounds of the middle; both 0: unknown
	}{
		"unknown":               {flow{}, 10, 0, 0, 0, 0},
		"a slot is free":        {flow{}, 3, 5, 0, 0, 2 * time.Second},
		"a free slot by rate":   {flow{}, 30, 50, 60, 29 * time.Second, 32 * time.Second},
		"by flow":               {steady, 100, 0, 0, 48 * time.Second, 53 * time.Second},
		"by flow, rate is less": {steady, 100, 0, 60, 98 * time.Second, 103 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.flow.estimate(test.position, test.free, test.rate)
			if got == nil {
				if test.high != 0 {
					t.Error("unknown")
				}
				return
			}
			middle := (got.Low + got.High) / 2
			if test.high == 0 || middle < test.low || middle > test.high || got.Low < 0 || got.Low >= got.High {
				t.Errorf("%v to %v", got.Low, got.High)
			}
		})
	}
	few, many := steady.estimate(4, 0, 0), steady.estimate(400, 0, 0)
	if relative := func(e *Eta) float64 { return float64(e.High) / float64(e.Low) }; relative(few) <= relative(many) {
		t.Error("the front of the line is told no wider a range than its middle")
	}
}
