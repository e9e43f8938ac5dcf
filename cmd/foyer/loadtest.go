package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"foyer/loadtest"
)

// loadSettings are the flags of foyer loadtest.
type loadSettings struct {
	gate     string
	visitors int
	over     time.Duration
	stay     time.Duration
	patience time.Duration
	leavers  int
	anywhere bool
}

func newLoadtest() *cobra.Command {
	var settings loadSettings
	cmd := &cobra.Command{
		Use:   "loadtest URL",
		Short: "Send simulated visitors to a page behind a gate",
		Long: "Send simulated visitors to a page behind a gate: each has cookies of its own, polls as it is told, stays for a while\n" +
			"and leaves. Arrivals do not wait for answers. Only this machine is sent to, unless --anywhere is given: use that on\n" +
			"nothing but your own.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := url.Parse(args[0])
			if err != nil || target.Host == "" {
				return misuse{fmt.Errorf("%q is no URL of a page, such as http://127.0.0.1:8080/sale", args[0])}
			}
			report, err := runLoad(cmd.Context(), target, settings, func(tally *loadtest.Tally) func() {
				return watchTally(cmd.Context(), &loadtest.Live{W: cmd.ErrOrStderr(), Terminal: isTerminal(cmd.ErrOrStderr())}, tally, settings.visitors)
			})
			if writeErr := report.Text(cmd.OutOrStdout()); err == nil {
				err = writeErr
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&settings.gate, "gate", "default", "`name` of the gate in front of the page")
	flags.IntVar(&settings.visitors, "visitors", 100, "how many come")
	flags.DurationVar(&settings.over, "over", 10*time.Second, "the time over which they come")
	flags.DurationVar(&settings.stay, "stay", 2*time.Second, "how long each stays inside")
	flags.DurationVar(&settings.patience, "patience", -time.Second, "how long each waits in line; negative: without end")
	flags.IntVar(&settings.leavers, "leavers", 0, "of a hundred, so many vanish from inside without a word")
	flags.BoolVar(&settings.anywhere, "anywhere", false, "send to other machines than this one")
	return cmd
}

// runLoad sends the crowd and reports what came of it. What broke in a visit is the error.
func runLoad(ctx context.Context, target *url.URL, settings loadSettings, watch func(*loadtest.Tally) func()) (loadtest.Report, error) {
	transport := loadtest.NewTransport(loadtest.TransportSettings{Connections: settings.visitors, Anywhere: settings.anywhere})
	defer transport.CloseIdleConnections()
	tally, latency := loadtest.NewTally(), loadtest.NewLatency()
	site := loadtest.Site{
		Base: target.Scheme + "://" + target.Host, Gate: settings.gate, Entry: target.RequestURI(),
		Transport: transport, Latency: latency,
	}
	unwatch := watch(tally)
	loadtest.Crowd{People: settings.visitors, Over: settings.over, Visit: func(ctx context.Context, _ int) loadtest.Outcome {
		plan := loadtest.Plan{Patience: settings.patience, Think: settings.stay, Fate: loadtest.JustLooks}
		if rand.IntN(100) < settings.leavers {
			plan.Fate = loadtest.VanishesNow
		}
		return loadtest.NewBuyer(site, plan).Run(ctx)
	}}.Run(ctx, tally)
	unwatch()
	return loadReport(target, tally, latency), tally.Failure()
}

func loadReport(target *url.URL, tally *loadtest.Tally, latency *loadtest.Latency) loadtest.Report {
	ends := loadtest.Table{Title: "how the visits ended", Columns: []string{"end", "visits"}}
	for _, end := range []loadtest.End{loadtest.Looked, loadtest.Vanished, loadtest.GaveUp, loadtest.SoldOut, loadtest.Refused, loadtest.Failed} {
		ends.Rows = append(ends.Rows, []string{string(end), fmt.Sprint(tally.Ends()[end])})
	}
	times := loadtest.Table{Title: "times", Columns: []string{"of", "median", "99 %", "longest"}}
	for _, row := range []struct {
		name string
		of   *loadtest.Latency
	}{{"waiting in line", tally.Waits}, {"one request", latency}} {
		times.Rows = append(times.Rows, []string{
			row.name, row.of.Quantile(50).String(), row.of.Quantile(99).String(), row.of.Quantile(100).String(),
		})
	}
	return loadtest.Report{Title: fmt.Sprintf("%d visitors to %s", tally.Arrived(), target), Tables: []loadtest.Table{ends, times}}
}

// watchTally shows how the visits go until the function it answers with is called.
func watchTally(ctx context.Context, live *loadtest.Live, tally *loadtest.Tally, visitors int) func() {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			gone := 0
			for _, n := range tally.Ends() {
				gone += n
			}
			live.Show(time.Now(), []loadtest.Gauge{
				{Label: "arrived", Value: tally.Arrived(), Of: visitors}, {Label: "gone", Value: gone, Of: visitors},
			})
			if sleep(ctx, 200*time.Millisecond) != nil {
				return
			}
		}
	}()
	return func() {
		stop()
		<-ended
	}
}
