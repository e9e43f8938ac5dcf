package config

import "testing"

func TestNearest_FindsWhatWasMeant(t *testing.T) {
	names := []string{"idle", "max", "claim", "inflight", "hold_ttl", "capacity", "match"}
	for word, want := range map[string]string{
		"idel": "idle", "Idle": "idle", "capasity": "capacity", "ttl": "hold_ttl", "colour": "", "x": "", "claims": "claim",
		"in_flight": "inflight", "mtach": "match",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestDistance_CountsEdits(t *testing.T) {
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"a", ""}: 1, {"ab", "ba"}: 1, {"kitten", "sitting"}: 3, {"é", "e"}: 2} {
		if got := distance(pair[0], pair[1]); got != want || distance(pair[1], pair[0]) != want {
			t.Errorf("%q: got %d, want %d", pair, got, want)
		}
	}
}
