package memstore

import (
	"testing"
	"time"

	"foyer/admission"
	"foyer/store/storetest"
)

// successor is a store with three visitors, two of them inside, as the process after it takes it over a second later.
func successor(t *testing.T, clean bool) (*Store, admission.Snapshot) {
	t.Helper()
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	store := New(Settings{Gate: "final", Now: clock})
	if _, err := store.Begin(t.Context(), "one", storetest.Rules()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Join(t.Context(), admission.Join{ID: "1", N: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Claim(t.Context(), admission.Seen{}, 1); err != nil {
		t.Fatal(err)
	}
	image := store.Image()
	now = now.Add(500 * time.Millisecond)
	store = New(Settings{Gate: "final", Now: clock, Saved: &image, Clean: clean})
	if standing, err := store.Begin(t.Context(), "two", storetest.Rules()); err != nil || standing.Round != "one" {
		t.Fatalf("begun %+v, %v", standing, err)
	}
	snapshot, err := store.Sync(t.Context(), admission.Sync{Replica: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Slots) != 2 || !snapshot.Waiting.Has(3) || snapshot.Waiting.Count() != 1 {
		t.Fatalf("resumed %+v", snapshot)
	}
	return store, snapshot
}

func TestNew_AfterACleanStopGoesOnAtOnce(t *testing.T) {
	store, snapshot := successor(t, true)
	if snapshot.Tail != 3 || !snapshot.Gives.IsZero() {
		t.Fatalf("resumed %+v", snapshot)
	}
	if joined, err := store.Join(t.Context(), admission.Join{ID: "2", N: 1}); err != nil || joined.First != 4 {
		t.Fatalf("joined %+v, %v", joined, err)
	}
}

func TestNew_AfterACrashGivesNoSlotUntilOldPassesHaveRunOut(t *testing.T) {
	store, snapshot := successor(t, false)
	if snapshot.Tail != 100_003 || !snapshot.Gives.Equal(snapshot.Now.Add(2500*time.Millisecond)) {
		t.Fatalf("resumed %+v", snapshot)
	}
	if joined, err := store.Join(t.Context(), admission.Join{ID: "2", N: 1}); err != nil || joined.First != 100_004 || joined.Leased != 0 {
		t.Fatalf("joined %+v, %v", joined, err)
	}
}

func TestImage_OfNothingIsEmpty(t *testing.T) {
	image := New(Settings{}).Image()
	if image.Round != "" {
		t.Fatalf("image %+v", image)
	}
	if _, err := New(Settings{Saved: &image}).Begin(t.Context(), "one", storetest.Rules()); err != nil {
		t.Fatal(err)
	}
}
