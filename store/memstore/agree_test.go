package memstore

import (
	"testing"
	"time"

	"foyer/admission"
	"foyer/store/storetest"
)

func TestStore_AgreesWithTheOracle(t *testing.T) {
	storetest.Agree(t, func(int) storetest.Stores { return storetest.Stores{"memory": open, "oracle": oracle} })
}

func oracle(*testing.T) storetest.Gate {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	current := &struct{ admission.Store }{storetest.NewOracle(clock)}
	return storetest.Gate{
		Store:   current,
		Advance: func(d time.Duration) { now = now.Add(d) },
		Lose:    func() { current.Store = storetest.NewOracle(clock) },
	}
}
