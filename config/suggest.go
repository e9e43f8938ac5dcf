package config

import (
	"slices"
	"strings"
)

// nearest is the candidate a misspelt word most likely stands for, or empty.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", max(len(word)/3, 1)+1
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, candidate := range candidates {
		if strings.Contains(candidate, strings.ToLower(word)) {
			return candidate
		}
	}
	return ""
}

// elsewhere is the section in which a key that is unknown where it stands would be known, or empty.
func elsewhere(name string) string {
	for _, setting := range Settings() {
		if strings.HasSuffix(setting.Path, "."+name) {
			return strings.TrimSuffix(setting.Path, "."+name)
		}
	}
	return ""
}

// distance is the number of characters to insert, delete, change or swap with their neighbour to turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			best := slices.Min([]int{rows[i-1][j] + 1, rows[i][j-1] + 1, rows[i-1][j-1] + change})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				best = min(best, rows[i-2][j-2]+1)
			}
			rows[i][j] = best
		}
	}
	return rows[len(a)][len(b)]
}
