package storetest

import (
	"bytes"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"foyer/origin"
)

// payKey is a key of some buyer.
func payKey(buyer string) origin.Key {
	return origin.Key{Buyer: buyer, Route: "POST /api/holds/h/pay", Key: "k"}
}

func claim(t *testing.T, l origin.Ledger, key origin.Key, fingerprint string, lasts time.Duration) origin.KeyState {
	t.Helper()
	state, err := l.ClaimKey(t.Context(), key, fingerprint, lasts)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func claimKeyOneRuns(t *testing.T, l LedgerStore) {
	var claimed atomic.Int64
	crowd(t, 10, func(int) error {
		state, err := l.ClaimKey(t.Context(), payKey("b"), "f", time.Hour)
		if state.Claimed {
			claimed.Add(1)
		}
		if state.Mismatch || state.Answer != nil {
			t.Errorf("state %+v", state)
		}
		return err
	})
	if claimed.Load() != 1 {
		t.Errorf("claimed %d times", claimed.Load())
	}
	if state := claim(t, l, payKey("b"), "other", time.Hour); !state.Mismatch || state.Claimed {
		t.Errorf("another fingerprint: %+v", state)
	}
	if state := claim(t, l, payKey("c"), "other", time.Hour); !state.Claimed {
		t.Errorf("another buyer: %+v", state)
	}
}

func claimKeyTakesOver(t *testing.T, l LedgerStore) {
	first := claim(t, l, payKey("b"), "f", time.Microsecond)
	now, err := l.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, l, now)
	second := claim(t, l, payKey("b"), "f", time.Hour)
	if !second.Claimed || second.Fence <= first.Fence {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if err := l.KeepAnswer(t.Context(), payKey("b"), first.Fence, origin.Answer{Status: 201}); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("the one that was fenced off: %v", err)
	}
	if err := l.DropKey(t.Context(), payKey("b"), first.Fence); err != nil {
		t.Error(err)
	}
	if state := claim(t, l, payKey("b"), "f", time.Hour); state.Claimed {
		t.Errorf("the old owner dropped the new one's claim: %+v", state)
	}
}

func keepAnswerReplays(t *testing.T, l LedgerStore) {
	key := payKey("b")
	fence := claim(t, l, key, "f", time.Hour).Fence
	answer := origin.Answer{Status: 402, Headers: map[string]string{"Content-Type": "application/json"}, Body: []byte("{\"x\":\x00\xff}")}
	for range 2 {
		if err := l.KeepAnswer(t.Context(), key, fence, answer); err != nil {
			t.Error(err)
		}
	}
	state := claim(t, l, key, "f", time.Hour)
	if state.Claimed || state.Answer == nil {
		t.Fatalf("done: %+v", state)
	}
	if got := *state.Answer; got.Status != 402 || !maps.Equal(got.Headers, answer.Headers) || !bytes.Equal(got.Body, answer.Body) {
		t.Errorf("replayed %+v", got)
	}
	if state := claim(t, l, key, "other", time.Hour); !state.Mismatch || state.Answer != nil {
		t.Errorf("another fingerprint: %+v", state)
	}
	empty := payKey("empty")
	fence = claim(t, l, empty, "f", time.Hour).Fence
	if err := l.KeepAnswer(t.Context(), empty, fence, origin.Answer{Status: 204}); err != nil {
		t.Error(err)
	}
	if state := claim(t, l, empty, "f", time.Hour); state.Answer == nil || state.Answer.Status != 204 || len(state.Answer.Body) != 0 {
		t.Errorf("an answer without a body: %+v", state)
	}
}

func dropKeyRunsAgain(t *testing.T, l LedgerStore) {
	key := payKey("b")
	first := claim(t, l, key, "f", time.Hour)
	if err := l.DropKey(t.Context(), key, first.Fence); err != nil {
		t.Fatal(err)
	}
	second := claim(t, l, key, "f", time.Hour)
	if !second.Claimed || second.Fence <= first.Fence {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if err := l.KeepAnswer(t.Context(), key, first.Fence, origin.Answer{Status: 201}); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("the one that gave up: %v", err)
	}
}

func forgetKeyRunsAnyRequest(t *testing.T, l LedgerStore) {
	key := payKey("b")
	first := claim(t, l, key, "f", time.Hour)
	if err := l.ForgetKey(t.Context(), key, first.Fence); err != nil {
		t.Fatal(err)
	}
	second := claim(t, l, key, "other", time.Hour)
	if !second.Claimed || second.Fence <= first.Fence {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if err := l.ForgetKey(t.Context(), key, first.Fence); err != nil {
		t.Error(err)
	}
	if state := claim(t, l, key, "f", time.Hour); !state.Mismatch {
		t.Errorf("the old owner freed the new one's key: %+v", state)
	}
	if err := l.KeepAnswer(t.Context(), key, second.Fence, origin.Answer{Status: 201}); err != nil {
		t.Fatal(err)
	}
	if err := l.ForgetKey(t.Context(), key, second.Fence); err != nil {
		t.Error(err)
	}
	if state := claim(t, l, key, "other", time.Hour); state.Answer == nil {
		t.Errorf("an answer was forgotten: %+v", state)
	}
}

func sweepKeys(t *testing.T, l LedgerStore) {
	claim := func(text string) origin.KeyState {
		t.Helper()
		state, err := l.ClaimKey(t.Context(), origin.Key{Buyer: "b", Route: "pay", Key: text}, "print", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	for _, text := range []string{"answered", "dropped", "claimed"} {
		key, state := origin.Key{Buyer: "b", Route: "pay", Key: text}, claim(text)
		var err error
		switch text {
		case "answered":
			err = l.KeepAnswer(t.Context(), key, state.Fence, origin.Answer{Status: 201, Body: []byte("{}")})
		case "dropped":
			err = l.DropKey(t.Context(), key, state.Fence)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := l.SweepKeys(t.Context(), time.Hour, 10); err != nil || n != 0 {
		t.Errorf("young ones forgotten: %d %v", n, err)
	}
	// A negative age reaches into the future: as far as the claim of the first two, or farther.
	if n, err := l.SweepKeys(t.Context(), -time.Minute, 10); err != nil || n != 1 {
		t.Errorf("beside what is claimed, %d forgotten: %v", n, err)
	}
	if state := claim("answered"); state.Answer == nil {
		t.Errorf("the answer is gone: %+v", state)
	}
	if n, err := l.SweepKeys(t.Context(), -2*time.Hour, 1); err != nil || n != 1 {
		t.Errorf("one of two: %d %v", n, err)
	}
}
