package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"foyer/origin"
)

// sale leaves a hold, a sale, a refund, a decline and a payment under way in the ledger.
func sale(t *testing.T, l LedgerStore) {
	t.Helper()
	event(t, l, "e", 10, 10)
	event(t, l, "unsold", 10, 10)
	hold(t, l, request("held", "e", "anna", 2))
	for _, id := range []string{"sold", "refunded"} {
		pay(t, l, "pay "+id, hold(t, l, request(id, "e", "bert", 1)))
		settle(t, l, "pay "+id, origin.AttemptPaid)
	}
	if err := l.Refunded(t.Context(), "pay refunded", 1200); err != nil {
		t.Fatal(err)
	}
	pay(t, l, "no", hold(t, l, request("declined", "e", "cora", 1)))
	settle(t, l, "no", origin.AttemptDeclined)
	pay(t, l, "open", hold(t, l, request("paying", "e", "dora", 1)))
	hold(t, l, request("back", "e", "emil", 1))
	if _, _, _, err := l.Release(t.Context(), "back", "emil"); err != nil {
		t.Fatal(err)
	}
}

func checkFindsNothing(t *testing.T, l LedgerStore) {
	sale(t, l)
	wantSound(t, l)
}

// breaches break the ledger in each way that its constraints let through, and mend it again. The row is empty where its
// id is the ledger's choice.
var breaches = []struct{ breaks, mends, row, invariant string }{
	{`update events set held = held + 1 where id = 'e'`, `update events set held = held - 1 where id = 'e'`, "e", "an event's held"},
	{`update events set sold = 1 where id = 'unsold'`, `update events set sold = 0 where id = 'unsold'`, "unsold", "an event's held"},
	{`update buyers set units = units + 1 where buyer = 'anna'`, `update buyers set units = units - 1 where buyer = 'anna'`, "anna", "a buyer's units"},
	{`update holds set state = 'sold' where id = 'paying'`, `update holds set state = 'paying' where id = 'paying'`, "paying", "a sold hold"},
	{`update holds set quantity = 3 where id = 'sold'`, `update holds set quantity = 1 where id = 'sold'`, "", "an order is that"},
	{`update attempts set amount = 1300 where id = 'pay sold'`, `update attempts set amount = 1200 where id = 'pay sold'`, "", "an order was paid"},
	{`update attempts set state = 'paid' where id = 'no'`, `update attempts set state = 'declined' where id = 'no'`, "no", "a paid attempt"},
	{`update attempts set state = 'refunded' where id = 'no'`, `update attempts set state = 'declined' where id = 'no'`, "no", "a refunded attempt"},
	{`update attempts set state = 'open' where id = 'no'`, `update attempts set state = 'declined' where id = 'no'`, "no", "an open attempt"},
	{`update attempts set state = 'declined' where id = 'open'`, `update attempts set state = 'open' where id = 'open'`, "paying", "a paying hold"},
}

func checkNamesRows(t *testing.T, l LedgerStore) {
	sale(t, l)
	for _, b := range breaches {
		if err := l.Exec(t.Context(), b.breaks); err != nil {
			t.Fatalf("%s: %v", b.breaks, err)
		}
		findings, err := l.Check(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		named := func(f origin.Finding) bool {
			return strings.HasPrefix(f.Invariant, b.invariant) && (b.row == "" || f.Row == b.row) && f.Event != "" && f.Detail != ""
		}
		if !slices.ContainsFunc(findings, named) {
			t.Errorf("%s: found %+v", b.breaks, findings)
		}
		if err := l.Exec(t.Context(), b.mends); err != nil {
			t.Fatalf("%s: %v", b.mends, err)
		}
	}
	wantSound(t, l)
}

func checkNamesUnsettled(t *testing.T, l LedgerStore) {
	sale(t, l)
	findings, err := l.Check(t.Context(), -time.Hour)
	if err != nil || len(findings) != 1 || findings[0].Row != "open" {
		t.Errorf("found %+v %v", findings, err)
	}
}

// wantSound checks that no invariant is broken.
func wantSound(t *testing.T, l LedgerStore) {
	t.Helper()
	findings, err := l.Check(context.WithoutCancel(t.Context()), time.Hour)
	if err != nil || len(findings) > 0 {
		t.Errorf("found %+v %v", findings, err)
	}
}
