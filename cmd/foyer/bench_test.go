package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foyer/internal/services"
)

// TestBench_ShowsWhatTheStrategiesAreWorth runs the whole bench, smaller, on real servers.
func TestBench_ShowsWhatTheStrategiesAreWorth(t *testing.T) {
	redis, _ := services.Redis(t)
	name := filepath.Join(t.TempDir(), "report")
	settings := benchSettings{postgres: services.Postgres(t), redis: redis, buyers: 100, tickets: 20, asJSON: true, report: name}
	var out, people strings.Builder
	if err := runBench(t.Context(), settings, &out, &people); err != nil {
		t.Fatalf("%v\n%s", err, &people)
	}
	var result benchResult
	if err := json.Unmarshal([]byte(out.String()), &result); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	for _, s := range result.Strategies {
		switch {
		case s.Strategy == "naive" && s.Oversold == 0:
			t.Error("naive, the control, has not oversold: the bench proves nothing")
		case s.Strategy != "naive" && (s.Sold != 20 || s.Oversold != 0):
			t.Errorf("%s sold %d of 20, oversold %d", s.Strategy, s.Sold, s.Oversold)
		}
	}
	if len(result.Strategies) != 5 || len(result.Admission) != 2 {
		t.Fatalf("%d strategies and %d gates, want 5 and 2", len(result.Strategies), len(result.Admission))
	}
	if open, gated := result.Admission[0], result.Admission[1]; open.Peak < benchArrivals/2 || gated.Peak > benchGate || open.Oversold+gated.Oversold != 0 {
		t.Errorf("without a gate %+v, with one %+v", open, gated)
	}
	if result.Idempotency != (idempotencyResult{Deliveries: 5, Orders: 1, Charges: 1}) {
		t.Errorf("one payment, delivered 5 times: %+v", result.Idempotency)
	}
	if result.Reconcile != (reconcileResult{Stranded: 5, Returned: 5}) {
		t.Errorf("5 crashes: %+v", result.Reconcile)
	}
	for _, file := range []string{name + ".json", name + ".html"} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("no report in %s: %v", file, err)
		}
	}
}

func TestBench_RefusesNumbersThatMeanNothing(t *testing.T) {
	var out strings.Builder
	if err := runBench(t.Context(), benchSettings{buyers: 0, tickets: 1}, &out, &out); exitCode(err) != exitMisuse {
		t.Errorf("got %v, want a misuse", err)
	}
}

func TestBench_NamesTheFlagOfAServerThatDoesNotAnswer(t *testing.T) {
	redis, _ := services.Redis(t)
	for want, settings := range map[string]benchSettings{
		"--redis: see that Redis runs":       {redis: "redis://127.0.0.1:1/0", postgres: "postgres://postgres@127.0.0.1:1/postgres"},
		"--postgres: see that Postgres runs": {redis: redis, postgres: "postgres://postgres@127.0.0.1:1/postgres"},
	} {
		settings.buyers, settings.tickets = 1, 1
		var out strings.Builder
		if err := runBench(t.Context(), settings, &out, &out); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
