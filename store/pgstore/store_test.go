package pgstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
)

func TestOpen_SeveralReplicasMayMigrateAtOnce(t *testing.T) {
	url := services.Postgres(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			store, err := pgstore.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := store.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			store.Close()
		})
	}
	wg.Wait()
	if n, err := pgstore.Migrate(t.Context(), url); err != nil || n != 0 {
		t.Errorf("%d migrations were missing afterwards (%v)", n, err)
	}
}

// Case E10: the session's time zone plays no part.
func TestHold_EndsTheSameInEveryTimeZone(t *testing.T) {
	url := services.Postgres(t)
	store, err := pgstore.Open(t.Context(), with(url, "timezone=Asia/Kolkata"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 5, Currency: "eur", MaxPerBuyer: 5}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), with(url, "timezone=America/Caracas"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var before time.Time
	if err := conn.QueryRow(t.Context(), `select clock_timestamp()`).Scan(&before); err != nil {
		t.Fatal(err)
	}
	request := origin.HoldRequest{ID: "h", Event: "e", Buyer: "b", Quantity: 1, TTL: 5 * time.Minute}
	if _, err := store.HoldConditional(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var left, since float64
	if err := conn.QueryRow(t.Context(), `select extract(epoch from expires_at - clock_timestamp())::float8,
		extract(epoch from clock_timestamp() - $1)::float8 from holds`, before).Scan(&left, &since); err != nil {
		t.Fatal(err)
	}
	if left > 300 || left < 300-since {
		t.Errorf("%.3f s left of 300, of which at most %.3f have passed", left, since)
	}
	hold, _, err := store.Hold(t.Context(), "h")
	if err != nil || hold.ExpiresAt.Location() != time.UTC {
		t.Errorf("%v %v", hold.ExpiresAt, err)
	}
}

// A process that froze in a transaction does not hold the event for longer than the session's limit.
func TestOpen_SessionsGiveUpLocks(t *testing.T) {
	url := services.Postgres(t)
	store, err := pgstore.Open(t.Context(), with(url, "lock_timeout=100"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 5, Currency: "eur", MaxPerBuyer: 5}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `select from events for update`); err != nil {
		t.Fatal(err)
	}
	requests := []origin.HoldRequest{{ID: "h", Event: "e", Buyer: "b", Quantity: 1, TTL: time.Hour}}
	if _, err := store.HoldGroup(t.Context(), "e", requests); err == nil || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("the lock was waited for: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if replies, err := store.HoldGroup(t.Context(), "e", requests); err != nil || replies[0].Hold.ID != "h" {
		t.Errorf("afterwards: %+v %v", replies, err)
	}
}

func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// Whoever asks for events that are not there must not fill the memory.
func TestHoldGroup_RemembersNoEventThatIsNotThere(t *testing.T) {
	store, err := pgstore.Open(t.Context(), services.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, event := range []string{"a", "b", "c"} {
		replies, err := store.HoldGroup(t.Context(), event, asks("h", 1))
		if err != nil || replies[0].Refusal != origin.NoSuchEvent {
			t.Fatal(replies, err)
		}
	}
	if n := store.Choosy(); n != 0 {
		t.Errorf("%d events are remembered that are not there", n)
	}
}
