package config

import (
	"fmt"
	"slices"
	"strings"
)

// overlaps notes gates of which one can never be reached: a problem where two match the same, a warning where an
// earlier one matches all that a later one does.
func (v *validator) overlaps(key string, gates []Gate) {
	if v.torn {
		return // what sets two gates apart may be among the lines left out
	}
	order := tryOrder(gates)
	for n, later := range order {
		at := fmt.Sprintf("%s[%d]", key, later)
		for _, earlier := range order[:n] {
			other := fmt.Sprintf("%s[%d]", key, earlier)
			if !v.sound(at+".match", other+".match") || !covers(gates[earlier].Match, gates[later].Match) {
				continue
			}
			if covers(gates[later].Match, gates[earlier].Match) {
				v.fail(at, fmt.Sprintf("gates %q (line %d) and %q (line %d) match the same requests",
					gates[earlier].Name, v.find(other).line, gates[later].Name, v.find(at).line),
					"give them different match.hosts or match.paths, or remove one")
			} else {
				v.warning(at, fmt.Sprintf("gate %q is never reached: gate %q (line %d) matches all its requests first",
					gates[later].Name, gates[earlier].Name, v.find(other).line), "put it before the other one")
			}
			break
		}
	}
}

// tryOrder lists the gates, by index, as a request meets them: in the file's order, the one named default last.
func tryOrder(gates []Gate) []int {
	order := make([]int, 0, len(gates))
	for i := range gates {
		if gates[i].Name != DefaultGateName {
			order = append(order, i)
		}
	}
	for i := range gates {
		if gates[i].Name == DefaultGateName {
			order = append(order, i)
		}
	}
	return order
}

// covers says whether a certainly matches every request that b matches. It may miss it where patterns are intricate.
func covers(a, b Match) bool {
	return allCovered(a.Hosts, b.Hosts, hostCovers) && allCovered(a.Paths, b.Paths, pathCovers)
}

// allCovered says whether each item of b is covered by one of a; an empty list is everything.
func allCovered(a, b []string, covers func(a, b string) bool) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == 0 || slices.ContainsFunc(a, func(x string) bool { return x == "/**" || x == "**" })
	}
	for _, inner := range b {
		if !slices.ContainsFunc(a, func(outer string) bool { return covers(outer, inner) }) {
			return false
		}
	}
	return true
}

func hostCovers(a, b string) bool {
	suffix, wild := strings.CutPrefix(a, "*")
	return a == b || wild && strings.HasSuffix(b, suffix)
}

func pathCovers(a, b string) bool {
	prefix, wild := strings.CutSuffix(a, "**")
	return a == b || wild && !strings.Contains(prefix, "*") && (strings.HasPrefix(b, prefix) || b+"/" == prefix)
}
