package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/pgstore"
)

// piped is a ledger whose event's row is held by somebody else, so that groups queue. A hold is known already.
type piped struct {
	*testing.T
	store  *pgstore.Store
	holder *pgx.Conn
	other  *pgx.Conn // looks on: in a transaction the activity of others is read once
	name   string
	answer map[string]chan error // to a hold asked for, nil where it is made
}

func newPiped(t *testing.T, parameters ...string) *piped {
	t.Helper()
	url := services.Postgres(t)
	var conns [2]*pgx.Conn
	for i := range conns {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
		conns[i] = conn
	}
	name := fmt.Sprint("piped", rand.Int())
	for _, parameter := range append(parameters, "lock_timeout=60000", "statement_timeout=60000") {
		url = with(url, parameter)
	}
	store, err := pgstore.Open(t.Context(), with(url, "application_name="+name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 50, Currency: "eur", MaxPerBuyer: 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.HoldGroup(t.Context(), "e", []origin.HoldRequest{{ID: "known", Event: "e", Buyer: "k", Quantity: 1, TTL: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	store.PipelinesLast(time.Hour) // however slow the machine is
	p := &piped{T: t, store: store, holder: conns[0], other: conns[1], name: name, answer: map[string]chan error{}}
	p.must(`begin`)
	p.must(`select from events for update`)
	return p
}

func (p *piped) must(sql string) {
	p.Helper()
	if _, err := p.holder.Exec(p.Context(), sql); err != nil {
		p.Fatal(err)
	}
}

// ask asks for a hold of one.
func (p *piped) ask(ctx context.Context, id string) {
	p.Helper()
	p.send(ctx, origin.HoldRequest{ID: id, Event: "e", Buyer: "b", Quantity: 1, TTL: time.Hour})
}

// send asks for a hold, and returns when its statement has been sent.
func (p *piped) send(ctx context.Context, request origin.HoldRequest) {
	p.Helper()
	answer := make(chan error, 1)
	p.answer[request.ID] = answer
	before := p.store.Pipeline("e")
	go func() {
		replies, err := p.store.HoldGroup(ctx, request.Event, []origin.HoldRequest{request})
		if err == nil && (replies[0].Refusal != origin.NotRefused || replies[0].Hold.ID != request.ID) {
			err = fmt.Errorf("refused: %q, %+v", replies[0].Refusal, replies[0].Hold)
		}
		answer <- err
	}()
	for deadline := time.Now().Add(10 * time.Second); p.store.Pipeline("e") == before && len(answer) == 0; {
		if time.Now().After(deadline) {
			p.Fatalf("%s was not sent", request.ID)
		}
		time.Sleep(time.Millisecond)
	}
}

// waiting counts the connections of the store that wait for the row.
func (p *piped) waiting() (n int) {
	p.Helper()
	const count = `select count(*) from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`
	if err := p.other.QueryRow(p.Context(), count, p.name).Scan(&n); err != nil {
		p.Fatal(err)
	}
	return n
}

// end ends what the store's connections are doing, and counts them.
func (p *piped) end() int64 {
	p.Helper()
	const end = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and state = 'active'`
	tag, err := p.other.Exec(p.Context(), end, p.name)
	if err != nil {
		p.Fatal(err)
	}
	return tag.RowsAffected()
}

// made looks whether holds that were asked for are made.
func (p *piped) made(ids ...string) {
	p.Helper()
	for _, id := range ids {
		if err := <-p.answer[id]; err != nil {
			p.Errorf("%s: %v", id, err)
		}
		if _, ok, err := p.store.Hold(p.Context(), id); err != nil || !ok {
			p.Errorf("%s is not made: %v", id, err)
		}
	}
}

// idle looks whether all connections come back, and none is in the middle of something. The pool counts those as in use that it
// is closing, which takes it a while.
func (p *piped) idle() {
	p.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.store.Pool().Stat().AcquiredConns() != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("%d connections are in use", p.store.Pool().Stat().AcquiredConns())
		}
	}
	if state := p.store.Pipeline("e"); state != (pgstore.PipelineState{}) {
		p.Errorf("of the event %+v", state)
	}
	if err := p.store.Ping(p.Context()); err != nil {
		p.Error(err)
	}
}

func TestHoldGroup_ASecondGroupGoesBehindTheFirstOnItsConnection(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	p.ask(t.Context(), "h1")
	p.ask(t.Context(), "h2")
	if n := p.waiting(); n > 1 {
		t.Errorf("%d connections wait for the row", n)
	}
	if n := p.store.Pool().Stat().AcquiredConns(); n != 1 {
		t.Errorf("%d connections are in use by two groups", n)
	}
	p.ask(t.Context(), "h3") // is one too many
	if n := p.store.Pool().Stat().AcquiredConns(); n != 2 {
		t.Errorf("%d connections are in use by three groups", n)
	}
	p.must(`commit`)
	p.made("h1", "h2", "h3")
	p.idle()
}

func TestHoldGroup_IsNotSentBehindOneThatHasBeenSilentForLong(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	p.store.PipelinesLast(50 * time.Millisecond)
	p.ask(t.Context(), "h1")
	time.Sleep(60 * time.Millisecond)
	p.ask(t.Context(), "h2")
	if n := p.store.Pool().Stat().AcquiredConns(); n != 2 {
		t.Errorf("%d connections are in use by two groups", n)
	}
	p.must(`commit`)
	p.made("h1", "h2")
	p.idle()
}

// Groups that follow each other closely do not keep the connection for ever: others may be waiting for it.
func TestHoldGroup_TheConnectionGoesBackToThePoolAfterAWhile(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	p.store.PipelinesLast(50 * time.Millisecond)
	tx, err := p.other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `insert into buyers (event, buyer, units, max_units) values ('e', 'late', 0, 5)`); err != nil {
		t.Fatal(err)
	}
	p.ask(t.Context(), "h1")
	p.send(t.Context(), origin.HoldRequest{ID: "h2", Event: "e", Buyer: "late", Quantity: 1, TTL: time.Hour})
	p.must(`commit`)
	p.made("h1")
	time.Sleep(60 * time.Millisecond)
	p.ask(t.Context(), "h3")
	if n := p.store.Pool().Stat().AcquiredConns(); n != 2 {
		t.Errorf("%d connections are in use, want one for each group", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.made("h2", "h3")
	p.idle()
}

func TestHoldGroup_OneThatFailsLeavesTheNextOnItsConnectionAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first origin.HoldRequest
		want  string
	}{
		"a limit":    {origin.HoldRequest{ID: "first", Event: "e", Buyer: "b", Quantity: 6, TTL: time.Hour}, "limit-exceeded"},
		"a known id": {origin.HoldRequest{ID: "known", Event: "e", Buyer: "k", Quantity: 1, TTL: time.Hour}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPiped(t)
			p.send(t.Context(), c.first)
			p.ask(t.Context(), "h2")
			if n := p.store.Pool().Stat().AcquiredConns(); n != 1 {
				t.Errorf("%d connections are in use by two groups", n)
			}
			p.must(`commit`)
			if err := <-p.answer[c.first.ID]; c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the first: %v, want %q", err, c.want)
			}
			p.made("h2")
			p.idle()
		})
	}
}

func TestHoldGroup_WhatWasUnderWayOnALostConnectionMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	p.ask(t.Context(), "h1")
	p.ask(t.Context(), "h2")
	for p.waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	if n := p.end(); n != 1 {
		t.Errorf("%d connections were ended", n)
	}
	for _, id := range []string{"h1", "h2"} {
		if err := <-p.answer[id]; err == nil || !strings.Contains(err.Error(), "make holds: the connection was") {
			t.Errorf("%s: %v", id, err)
		}
	}
	p.must(`commit`)
	for _, id := range []string{"h1", "h2"} {
		p.ask(t.Context(), id)
		p.made(id)
	}
	p.idle()
}

// Who waits behind another statement goes without it: his caller may leave, or the connection may be dead. Neither disturbs the
// first, and whoever comes in between does not take the answer for his own.
func TestHoldGroup_TheSecondMayGiveUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lasts time.Duration
		want  string
	}{
		"since its caller leaves": {50 * time.Millisecond, "context deadline exceeded"},
		"since it waits for long": {time.Hour, "the statement before it on the connection is not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPiped(t)
			ctx, cancel := context.WithTimeout(t.Context(), c.lasts)
			defer cancel()
			p.ask(t.Context(), "h1")
			p.ask(ctx, "h2")
			if n := p.store.Pool().Stat().AcquiredConns(); n != 1 && c.lasts == time.Hour {
				t.Errorf("%d connections are in use by two groups", n)
			}
			if err := <-p.answer["h2"]; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the second: %v, want %q", err, c.want)
			}
			p.ask(t.Context(), "h3")
			p.must(`commit`)
			p.made("h1", "h3")
			p.ask(t.Context(), "h2")
			p.made("h2")
			p.idle()
		})
	}
}

// A statement that is given up does not go on waiting in the database, where it would take connections that the pool counts
// as closed.
func TestHoldGroup_WhatIsGivenUpEndsInTheDatabase(t *testing.T) {
	t.Parallel()
	p := newPiped(t, "pool_max_conns=1")
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		p.ask(ctx, "h1")
		if err := <-p.answer["h1"]; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		cancel()
	}
	for deadline := time.Now().Add(30 * time.Second); p.waiting() > 0; time.Sleep(10 * time.Millisecond) { // less than lock_timeout
		if time.Now().After(deadline) {
			t.Fatalf("%d statements that were given up wait for the row", p.waiting())
		}
	}
	p.must(`commit`)
	p.ask(t.Context(), "h1")
	p.made("h1")
	p.idle()
}

// A caller who has left before his statement is sent does not take the connection from another.
func TestHoldGroup_OneWhoHasLeftDisturbsNobody(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	p.ask(t.Context(), "h1")
	left, leave := context.WithCancel(t.Context())
	leave()
	request := origin.HoldRequest{ID: "h2", Event: "e", Buyer: "b", Quantity: 1, TTL: time.Hour}
	if _, err := p.store.HoldGroup(left, "e", []origin.HoldRequest{request}); !errors.Is(err, context.Canceled) {
		t.Errorf("the second: %v", err)
	}
	p.must(`commit`)
	p.made("h1")
	p.idle()
}

// A table that changes under a prepared statement costs one try, not the connection's whole life.
func TestHoldGroup_GoesOnAfterItsTablesHaveChanged(t *testing.T) {
	t.Parallel()
	p := newPiped(t, "pool_max_conns=1")
	p.must(`commit`)
	p.ask(t.Context(), "h1")
	p.made("h1")
	p.must(`alter table events alter column name type varchar(200)`)
	p.ask(t.Context(), "h2")
	if err := <-p.answer["h2"]; err == nil || !strings.Contains(err.Error(), "cached plan") {
		t.Errorf("the first after it: %v", err)
	}
	p.ask(t.Context(), "h3")
	p.made("h3")
	p.idle()
}

func TestHoldGroup_WithoutPreparedStatements(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "cache_describe", "simple_protocol"} {
		store, err := pgstore.Open(t.Context(), with(services.Postgres(t), "default_query_exec_mode="+mode))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		if _, err := store.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 5, Currency: "eur", MaxPerBuyer: 5}); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		request := origin.HoldRequest{ID: "h", Event: "e", Buyer: "b", Quantity: 1, TTL: time.Hour}
		if replies, err := store.HoldGroup(t.Context(), "e", []origin.HoldRequest{request}); err != nil || replies[0].Hold.ID != "h" {
			t.Errorf("%s: %+v %v", mode, replies, err)
		}
	}
}

// Groups of few events come from all sides, some leave in the middle, and connections are lost: each is answered, what was
// acknowledged is there, and the ledger is sound.
func TestHoldGroup_PipelinesLoseNothingInAStorm(t *testing.T) {
	t.Parallel()
	const events, clients, each = 2, 8, 40
	p := newPiped(t)
	p.store.PipelinesLast(10 * time.Millisecond) // so that connections change, too
	p.must(`commit`)
	for e := range events {
		event := origin.Event{ID: fmt.Sprint("storm", e), Capacity: 1000, Currency: "eur", MaxPerBuyer: 1000}
		if _, err := p.store.PutEvent(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var wg sync.WaitGroup
	for c := range clients {
		leave := random.Perm(each)[:each/4]
		wg.Go(func() {
			for n := range each {
				ctx, cancel := context.WithCancel(t.Context())
				for _, at := range leave {
					if at == n {
						time.AfterFunc(time.Duration(at*20)*time.Microsecond, cancel)
					}
				}
				event := fmt.Sprint("storm", n%events)
				request := origin.HoldRequest{ID: fmt.Sprint("c", c, " n", n), Event: event, Buyer: fmt.Sprint("b", c), Quantity: 1, TTL: time.Hour}
				for start := time.Now(); ; ctx = t.Context() {
					replies, err := p.store.HoldGroup(ctx, event, []origin.HoldRequest{request})
					if err == nil {
						if replies[0].Hold.ID != request.ID {
							t.Errorf("%s: %+v", request.ID, replies[0])
						}
						break
					}
					if time.Since(start) > time.Minute {
						t.Errorf("%s: %v", request.ID, err)
						break
					}
				}
				cancel()
			}
		})
	}
	lost := int64(0)
	for range 300 {
		lost += p.end()
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	t.Logf("%d connections were ended", lost)
	for c := range clients {
		for n := range each {
			if _, ok, err := p.store.Hold(t.Context(), fmt.Sprint("c", c, " n", n)); err != nil || !ok {
				t.Errorf("c%d n%d is not made: %v", c, n, err)
			}
		}
	}
	if findings, err := p.store.Check(t.Context(), time.Hour); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
	p.idle()
}
