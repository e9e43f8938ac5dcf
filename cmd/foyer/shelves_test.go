package main

import (
	"maps"
	"testing"

	"foyer/config"
)

func TestShelves_AGateHearsOfTheEventsBehindIt(t *testing.T) {
	rooms := []room{
		{Gate: config.Gate{Name: "default", Upstream: config.UpstreamOrigin}},
		{Gate: config.Gate{Name: "final", Upstream: config.UpstreamOrigin, Match: config.Match{
			Paths: []string{"/events/final/**", "/api/events/final/**"},
		}}},
		{Gate: config.Gate{Name: "elsewhere", Upstream: "http://127.0.0.1:1", Match: config.Match{Paths: []string{"/shop/**"}}}},
	}
	told := map[string]int{}
	s, err := newShelves(rooms)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"final", "elsewhere", "default"} {
		s.gates[i].told = func(left int) { told[name] = left }
	}
	s.tell(map[string]int64{"final": 0, "semi": 3, "third": 4})
	if want := map[string]int{"final": 0, "default": 7}; !maps.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
