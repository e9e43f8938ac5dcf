package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"foyer/config"
	"foyer/origin"
	"foyer/store"
)

// reconciled is what foyer reconcile found of one event.
type reconciled struct {
	Event            string   `json:"event"`
	Capacity         int64    `json:"capacity"`
	Sold             int64    `json:"sold"`
	Held             int64    `json:"held"`
	Counter          *int64   `json:"counter"` // null where the strategy keeps none
	StrandedReturned int64    `json:"stranded_returned"`
	DriftBefore      int64    `json:"drift_before"`
	DriftAfter       int64    `json:"drift_after"`
	Problems         []string `json:"problems"` // invariants of the ledger that do not hold
}

func newReconcile() *cobra.Command {
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare the counters with the ledger and mend them; --check only looks",
		Long: "Compare, event by event, the ledger's totals with its rows and the counter in Redis with the ledger, and mend the\n" +
			"counter. Ends with exit code 1 where an invariant of the ledger does not hold or a drift remains.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadShopConfig(cmd)
			if err != nil {
				return err
			}
			found, err := reconcileAll(cmd.Context(), cfg, check)
			if err != nil {
				return fmt.Errorf("reconcile: %w", err)
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			} else {
				err = tellReconciled(cmd.OutOrStdout(), found)
			}
			return errors.Join(err, judgeReconciled(found))
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// reconcileAll looks at every event in the ledger.
func reconcileAll(ctx context.Context, cfg *config.Config, check bool) (found []reconciled, err error) {
	settings := storeSettings(cfg)
	settings.StateFile = "" // it belongs to the process that serves
	stores, err := store.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	strategy, err := stores.Strategy(cfg.Origin.Strategy)
	if err != nil {
		return nil, err
	}
	look := strategy.Reconcile
	if check {
		look = strategy.Compare
	}
	events, err := stores.Ledger().Events(ctx)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	for _, event := range events {
		report, err := look(ctx, event.ID)
		if err != nil {
			return found, fmt.Errorf("event %s: %w", event.ID, err)
		}
		audit, _, err := stores.Ledger().Audit(ctx, event.ID)
		if err != nil {
			return found, fmt.Errorf("audit event %s: %w", event.ID, err)
		}
		found = append(found, reconciled{
			Event: event.ID, Capacity: audit.Capacity, Sold: audit.Sold, Held: audit.Held, Counter: report.Counter,
			StrandedReturned: report.StrandedReturned, DriftBefore: report.DriftBefore, DriftAfter: report.DriftAfter,
			Problems: problems(audit),
		})
	}
	return found, nil
}

// problems are the invariants of the ledger that do not hold for an event, P5 to P7 of the promises.
func problems(audit origin.Audit) []string {
	found := []string{}
	for _, invariant := range []struct {
		holds bool
		name  string
	}{
		{audit.Held+audit.Sold <= audit.Capacity, "held + sold <= capacity"},
		{audit.Held == audit.HeldRows, "held = the units of the holds that hold"},
		{audit.Sold == audit.SoldRows, "sold = the units of the holds that are sold"},
		{audit.ChargesCaptured-audit.ChargesRefunded <= audit.Orders, "no charge without an order or a refund"},
	} {
		if !invariant.holds {
			found = append(found, invariant.name)
		}
	}
	return found
}

func tellReconciled(w io.Writer, found []reconciled) error {
	for _, event := range found {
		counter := "no counter"
		if event.Counter != nil {
			counter = fmt.Sprintf("counter %d, drift %d, was %d, %d stranded returned", *event.Counter, event.DriftAfter, event.DriftBefore, event.StrandedReturned)
		}
		if _, err := fmt.Fprintf(w, "%s: capacity %d, sold %d, held %d; %s\n", event.Event, event.Capacity, event.Sold, event.Held, counter); err != nil {
			return err
		}
		for _, problem := range event.Problems {
			fmt.Fprintf(w, "  does not hold: %s\n", problem)
		}
	}
	return nil
}

// judgeReconciled is an error where something is wrong still.
func judgeReconciled(found []reconciled) error {
	var errs []error
	for _, event := range found {
		if len(event.Problems) > 0 {
			errs = append(errs, fmt.Errorf("event %s: %d invariants do not hold", event.Event, len(event.Problems)))
		}
		if event.DriftAfter != 0 {
			errs = append(errs, fmt.Errorf("event %s: the counter is off by %d", event.Event, event.DriftAfter))
		}
	}
	return errors.Join(errs...)
}
