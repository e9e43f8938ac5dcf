package main

import (
	"foyer/config"
	"foyer/proxy"
)

// shelves knows which events are sold behind which gates, so that a gate hears when nothing is left behind it, and when
// there is something again.
type shelves struct{ gates []shelf }

// shelf is one gate in front of the shop.
type shelf struct {
	paths []proxy.Pattern // none: every path
	hosts bool            // only for some hosts, so that a later gate may have the same paths
	told  func(left int)
}

// newShelves reads the gates in the order in which they are tried.
func newShelves(rooms []room) (*shelves, error) {
	s := &shelves{}
	for _, last := range []bool{false, true} {
		for _, room := range rooms {
			if (room.Name == "default") != last {
				continue
			}
			made := shelf{hosts: len(room.Match.Hosts) > 0}
			if room.Upstream == config.UpstreamOrigin {
				made.told = room.SoldOut
			}
			for _, text := range room.Match.Paths {
				pattern, err := proxy.NewPattern(text)
				if err != nil {
					return nil, misuse{err}
				}
				made.paths = append(made.paths, pattern)
			}
			s.gates = append(s.gates, made)
		}
	}
	return s, nil
}

// tell hands what is left of every event to the gates that stand before it.
func (s *shelves) tell(left map[string]int64) {
	sums := make(map[int]int64)
	for event, units := range left {
		for gate := range s.before(event) {
			sums[gate] += max(units, 0)
		}
	}
	for gate, sum := range sums {
		if told := s.gates[gate].told; told != nil {
			told(int(sum))
		}
	}
}

// before are the gates, by their index, that a buyer of an event meets: on its page, or where its holds are made.
func (s *shelves) before(event string) map[int]bool {
	met := make(map[int]bool)
	for _, path := range []string{"/events/" + event, "/api/events/" + event + "/holds"} {
		for i, gate := range s.gates {
			if !gate.matches(path) {
				continue
			}
			met[i] = true
			if !gate.hosts {
				break
			}
		}
	}
	return met
}

func (s shelf) matches(path string) bool {
	for _, pattern := range s.paths {
		if pattern.Matches(path) {
			return true
		}
	}
	return len(s.paths) == 0
}
