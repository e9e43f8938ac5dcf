package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// demoResult is the last line of foyer demo --json.
type demoResult struct {
	Capacity, Sold, Oversold *int
	GateCapacity             *int `json:"gate_capacity"`
	PeakInside               *int `json:"peak_inside"`
	Arrivals                 *int
	GaveUp                   *int `json:"gave_up"`
	Seconds                  *float64
}

func TestDemo_SellsExactlyTheCapacity(t *testing.T) {
	stdout, stderr, code := foyer(t, "demo", "--json")
	if code != 0 {
		t.Fatalf("foyer demo exits with %d:\n%s\n%s", code, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var got demoResult
	decoder := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("the last line is %q: %v", lines[len(lines)-1], err)
	}
	if got.Capacity == nil || got.Sold == nil || got.Oversold == nil || got.GateCapacity == nil || got.PeakInside == nil ||
		got.Arrivals == nil || got.GaveUp == nil || got.Seconds == nil {
		t.Fatalf("the last line lacks a number: %s", lines[len(lines)-1])
	}
	if *got.Sold != *got.Capacity || *got.Oversold != 0 {
		t.Errorf("sold %d of %d, oversold %d", *got.Sold, *got.Capacity, *got.Oversold)
	}
	if *got.PeakInside > *got.GateCapacity || *got.PeakInside == 0 {
		t.Errorf("%d inside at once with a gate of %d", *got.PeakInside, *got.GateCapacity)
	}
	if *got.Arrivals < 200 || *got.GaveUp == 0 || *got.Seconds > 30 {
		t.Errorf("%d arrivals, %d gave up, %v s", *got.Arrivals, *got.GaveUp, *got.Seconds)
	}
}
