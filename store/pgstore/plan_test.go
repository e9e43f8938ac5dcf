package pgstore_test

import (
	"fmt"
	"testing"
	"time"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
)

// TestGroups_ReadOnlyTheRowsTheyAskFor counts the rows read for groups of an event that many have bought before, on tables
// that were never analysed, as in the first minute of a sale.
func TestGroups_ReadOnlyTheRowsTheyAskFor(t *testing.T) {
	const before, group, rounds = 4000, 20, 10
	store, err := pgstore.Open(t.Context(), with(services.Postgres(t), "pool_max_conns=1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 1 << 20, Currency: "eur", MaxPerBuyer: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.HoldGroup(t.Context(), "e", asks("early", before)); err != nil {
		t.Fatal(err)
	}

	start := rowsRead(t, store)
	for round := range rounds {
		if _, err := store.HoldGroup(t.Context(), "e", asks(fmt.Sprint("late", round), group)); err != nil {
			t.Fatal(err)
		}
	}
	held := rowsRead(t, store)
	if read := held - start; read > before {
		t.Errorf("%d groups of %d holds read %d rows of %d", rounds, group, read, before)
	}

	for round := range rounds {
		var wishes []origin.Wish
		for _, ask := range asks(fmt.Sprint("late", round), group) {
			wishes = append(wishes, origin.Wish{Hold: ask.ID, Buyer: ask.Buyer})
		}
		if _, err := store.MoveGroup(t.Context(), "e", wishes); err != nil {
			t.Fatal(err)
		}
	}
	released := rowsRead(t, store)
	if read := released - held; read > before {
		t.Errorf("%d groups of %d releases read %d rows of %d", rounds, group, read, before)
	}

	for round := range rounds {
		brief := asks(fmt.Sprint("brief", round), group)
		for i := range brief {
			brief[i].TTL = time.Microsecond
		}
		if _, err := store.HoldGroup(t.Context(), "e", brief); err != nil {
			t.Fatal(err)
		}
		if ended, err := store.Expire(t.Context(), group); err != nil || len(ended) != group {
			t.Fatalf("%d holds expired, want %d: %v", len(ended), group, err)
		}
	}
	if read := rowsRead(t, store) - released; read > before {
		t.Errorf("%d groups of %d holds that expire read %d rows of %d", rounds, group, read, before)
	}
}

// TestSweeps_ReadOnlyWhatIsDue counts the rows read for sweeps of tables in which nothing is due.
func TestSweeps_ReadOnlyWhatIsDue(t *testing.T) {
	const fresh = 4000
	store, err := pgstore.Open(t.Context(), with(services.Postgres(t), "pool_max_conns=1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	const fill = `insert into idempotency_keys (buyer, route, key, fingerprint, fence, claimed_until, created_at)
		select n, 'hold', n, '', 1, clock_timestamp(), clock_timestamp() from generate_series(1, $1) as n`
	if _, err := store.Pool().Exec(t.Context(), fill, fresh); err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: fresh, Currency: "eur", MaxPerBuyer: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.HoldGroup(t.Context(), "e", asks("active", fresh)); err != nil {
		t.Fatal(err)
	}
	const open = `insert into attempts (id, hold, event, buyer, method, amount, currency, state, created_at, touched_at)
		select id, id, event, buyer, 'm', 1, 'eur', 'open', clock_timestamp(), clock_timestamp() from holds`
	if _, err := store.Pool().Exec(t.Context(), open); err != nil {
		t.Fatal(err)
	}

	for name, sweep := range map[string]func() (int, error){
		"keys":     func() (int, error) { return store.SweepKeys(t.Context(), time.Hour, fresh) },
		"holds":    func() (int, error) { ended, err := store.Expire(t.Context(), fresh); return len(ended), err },
		"attempts": func() (int, error) { due, err := store.Open(t.Context(), time.Hour, fresh); return len(due), err },
	} {
		start := rowsRead(t, store)
		if due, err := sweep(); err != nil || due != 0 {
			t.Errorf("%s: %d due, want none: %v", name, due, err)
		}
		if read := rowsRead(t, store) - start; read > fresh/10 {
			t.Errorf("%s: a sweep with nothing due read %d rows of %d", name, read, fresh)
		}
	}
}

// asks are requests of a unit each.
func asks(name string, n int) []origin.HoldRequest {
	requests := make([]origin.HoldRequest, n)
	for i := range requests {
		id := fmt.Sprintf("%s-%d", name, i)
		requests[i] = origin.HoldRequest{ID: id, Event: "e", Buyer: "buyer of " + id, Quantity: 1, TTL: time.Hour}
	}
	return requests
}

// rowsRead counts what the one connection of a store has read from indexes.
func rowsRead(t *testing.T, store *pgstore.Store) int64 {
	t.Helper()
	if _, err := store.Pool().Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
		t.Fatal(err)
	}
	var read int64
	const count = `select sum(idx_tup_read)::bigint from pg_stat_user_indexes where schemaname = current_schema()`
	if err := store.Pool().QueryRow(t.Context(), count).Scan(&read); err != nil {
		t.Fatal(err)
	}
	return read
}
