package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"foyer/loadtest"
)

// benchSettings are the flags of foyer bench.
type benchSettings struct {
	postgres, redis string
	buyers          int
	tickets         int64
	asJSON          bool
	report          string
}

// benchResult is the last line of foyer bench --json.
type benchResult struct {
	Strategies  []strategyResult  `json:"strategies"`
	Admission   []admissionResult `json:"admission"`
	Idempotency idempotencyResult `json:"idempotency"`
	Reconcile   reconcileResult   `json:"reconcile"`
}

func newBench() *cobra.Command {
	var settings benchSettings
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the strategies, the gate and the payments side by side on this machine",
		Long: "Measure, on this machine, with real clients over real connections: what each strategy sells of a few tickets to\n" +
			"many buyers at once, how many are inside with and without a gate, what one payment delivered five times charges, and\n" +
			"what crashes between counter and ledger strand. Works in a schema and a key prefix of its own, and removes them.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), settings, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&settings.postgres, "postgres", "", "`URL` of a Postgres; empty: one is started for the bench")
	flags.StringVar(&settings.redis, "redis", "", "`URL` of a Redis; empty: one is started for the bench")
	flags.IntVar(&settings.buyers, "buyers", 500, "buyers who come at once")
	flags.Int64Var(&settings.tickets, "tickets", 100, "tickets for sale")
	flags.BoolVar(&settings.asJSON, "json", false, "print the result as JSON")
	flags.StringVar(&settings.report, "report", "bench-report", "write the report to this `name`.json and name.html; empty: nowhere")
	return cmd
}

// runBench runs all benches, one after the other, and reports.
func runBench(ctx context.Context, settings benchSettings, out, people io.Writer) error {
	if settings.buyers < 1 || settings.tickets < 1 {
		return misuse{fmt.Errorf("--buyers and --tickets are at least 1")}
	}
	if !settings.asJSON {
		people = out
	}
	bench, err := newBenchRun(ctx, settings)
	if err != nil {
		return err
	}
	defer bench.close()
	started := time.Now()
	result, err := bench.run(ctx, func(what string) { fmt.Fprintf(people, "%5.1f s  %s\n", time.Since(started).Seconds(), what) })
	if err != nil {
		return err
	}
	report := result.report(settings, bench.about(time.Since(started)))
	if err := report.Text(people); err != nil {
		return err
	}
	if err := writeReport(settings.report, result, report); err != nil {
		fmt.Fprintln(people, "the report is not written:", err)
	}
	if settings.asJSON {
		return json.NewEncoder(out).Encode(result)
	}
	return nil
}

// writeReport writes name.json and name.html.
func writeReport(name string, result benchResult, report loadtest.Report) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".json", append(text, '\n'), 0o644); err != nil { // #nosec G306 -- a report is for everyone
		return err
	}
	page, err := os.Create(name + ".html")
	if err != nil {
		return err
	}
	defer page.Close()
	if err := report.HTML(page); err != nil {
		return err
	}
	return page.Close()
}
