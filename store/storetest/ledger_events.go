package storetest

import (
	"errors"
	"strings"
	"testing"

	"foyer/origin"
)

func putEventKeepsAResize(t *testing.T, l LedgerStore) {
	first := event(t, l, "e", 10, 4)
	if first.Capacity != 10 || first.Remaining() != 10 || first.AsOf.IsZero() {
		t.Fatalf("created: %+v", first)
	}
	if stock, refusal, err := l.Resize(t.Context(), "e", 25); err != nil || refusal != origin.NotRefused || stock.Capacity != 25 {
		t.Fatalf("resize: %+v %q %v", stock, refusal, err)
	}
	if again := event(t, l, "e", 10, 6); again.Capacity != 25 || again.MaxPerBuyer != 6 {
		t.Errorf("the same file again: %+v", again)
	}
	if changed := event(t, l, "e", 12, 6); changed.Capacity != 12 {
		t.Errorf("a changed file: %+v", changed)
	}
	event(t, l, "d", 1, 1)
	all, err := l.Events(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != "d" || all[1].ID != "e" {
		t.Errorf("events: %+v %v", all, err)
	}
	if _, ok, err := l.Event(t.Context(), "none"); ok || err != nil {
		t.Errorf("no event: %v %v", ok, err)
	}
	if _, ok, err := l.Audit(t.Context(), "none"); ok || err != nil {
		t.Errorf("audit of no event: %v %v", ok, err)
	}
}

func putEventNeverBelowTaken(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 10)
	hold(t, l, request("h", "e", "b", 7))
	if stock := event(t, l, "e", 5, 10); stock.Capacity != 7 || stock.Remaining() != 0 {
		t.Errorf("shrunk in the file: %+v", stock)
	}
}

func resizeRefuses(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 10)
	hold(t, l, request("h", "e", "b", 7))
	if stock, refusal, err := l.Resize(t.Context(), "e", 6); err != nil || refusal != origin.CapacityInUse || stock.Capacity != 10 {
		t.Errorf("below: %+v %q %v", stock, refusal, err)
	}
	if stock, refusal, err := l.Resize(t.Context(), "e", 7); err != nil || refusal != origin.NotRefused || stock.Remaining() != 0 {
		t.Errorf("to what is taken: %+v %q %v", stock, refusal, err)
	}
	if _, refusal, err := l.Resize(t.Context(), "none", 7); err != nil || refusal != origin.NoSuchEvent {
		t.Errorf("no event: %q %v", refusal, err)
	}
}

// constraintsRefuse is case E3: whoever goes past the code meets the database.
func constraintsRefuse(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 4)
	h := hold(t, l, request("h", "e", "b", 4))
	pay(t, l, "a", h)
	for constraint, statement := range map[string]string{
		"events_never_oversold":    `update events set held = 11 where id = 'e'`,
		"events_held_not_negative": `update events set held = -1 where id = 'e'`,
		"buyers_within_limit":      `update buyers set units = units + 1 where buyer = 'b'`,
		"holds_quantity_positive":  `update holds set quantity = 0 where id = 'h'`,
		"holds_state_known":        `update holds set state = 'lost' where id = 'h'`,
		"attempts_one_open": `insert into attempts (id, hold, event, buyer, method, amount, currency, state, created_at, touched_at)
			select 'a2', hold, event, buyer, method, amount, currency, state, created_at, touched_at from attempts`,
	} {
		err := l.Exec(t.Context(), statement)
		if !errors.Is(err, origin.ErrRejected) {
			t.Errorf("%s: %v", constraint, err)
			continue
		}
		if !strings.Contains(err.Error(), constraint) && !strings.Contains(err.Error(), "attempts.hold") {
			t.Errorf("%s is not named: %v", constraint, err)
		}
	}
	wantStock(t, l, "e", 4, 0)
}

func raiseEpochHasOneWinner(t *testing.T, l LedgerStore) {
	event(t, l, "e", 10, 4)
	winners := make(chan struct{}, 20)
	crowd(t, 20, func(int) error {
		stock, raised, err := l.RaiseEpoch(t.Context(), "e", 0)
		if raised {
			winners <- struct{}{}
		}
		if err == nil && stock.Epoch != 1 {
			t.Errorf("epoch %d", stock.Epoch)
		}
		return err
	})
	if len(winners) != 1 {
		t.Errorf("%d winners", len(winners))
	}
}
