package memstore

import (
	"testing"
	"time"

	"foyer/store/storetest"
)

// open is a gate whose clock stands until it is advanced.
func open(*testing.T) storetest.Gate {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	return storetest.Gate{
		Store:   New(Settings{Gate: "final", Now: func() time.Time { return now }}),
		Advance: func(d time.Duration) { now = now.Add(d) },
	}
}

func TestStore_IsALine(t *testing.T) { storetest.Line(t, open) }
