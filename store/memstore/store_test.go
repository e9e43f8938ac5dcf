package memstore

import (
	"testing"
	"time"

	"foyer/admission"
	"foyer/store/storetest"
)

// open is a gate whose clock stands until it is advanced.
func open(*testing.T) storetest.Gate {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	fresh := func() *Store { return New(Settings{Gate: "final", Now: func() time.Time { return now }}) }
	current := &replaceable{fresh()}
	return storetest.Gate{
		Store:   current,
		Advance: func(d time.Duration) { now = now.Add(d) },
		Lose:    func() { current.Store = fresh() },
	}
}

// replaceable is a store that can be replaced by another, as a process is by its successor.
type replaceable struct{ admission.Store }

func TestStore_IsALine(t *testing.T) { storetest.Line(t, open) }
