package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"foyer/config"
	"foyer/origin"
	"foyer/store"
	"foyer/store/strategy"
)

// settleMargin is how much longer than payment.settle a payment may be unsettled: the resolver cancels it after that.
const settleMargin = time.Minute

// reconciled is what foyer reconcile found of one event.
type reconciled struct {
	Event            string           `json:"event"`
	Capacity         int64            `json:"capacity"`
	Sold             int64            `json:"sold"`
	Held             int64            `json:"held"`
	Counter          *int64           `json:"counter"` // null where the strategy keeps none
	StrandedReturned int64            `json:"stranded_returned"`
	DriftBefore      int64            `json:"drift_before"`
	DriftAfter       int64            `json:"drift_after"`
	Problems         []origin.Finding `json:"problems,omitempty"` // rows of the ledger that break an invariant
}

func newReconcile() *cobra.Command {
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare the counters with the ledger and mend them; --check only compares",
		Long: "Look through the ledger for rows that break an invariant, compare the counter in Redis with it, event by event, and\n" +
			"mend the counter. Each broken row is named. Ends with exit code 1 if there is one, or where a drift remains. The ledger's\n" +
			"schema is brought up to date first, as by foyer serve, also with --check.",
		Args: exactly(),
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
	cmd.Flags().BoolVar(&check, "check", false, "mend nothing")
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
	made, err := stores.Strategy(cfg.Origin.Strategy)
	if err != nil {
		return nil, err
	}
	if err := stores.Ping(ctx)["redis"]; err != nil && cfg.Origin.Strategy == strategy.AtomicRedis {
		return nil, err // its counters are there
	}
	look := made.Reconcile
	if check {
		look = made.Compare
	}
	events, err := stores.Ledger().Events(ctx)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	findings, err := stores.Ledger().Check(ctx, cfg.Origin.Payment.Settle+settleMargin)
	if err != nil {
		return nil, err
	}
	problems := map[string][]origin.Finding{}
	for _, finding := range findings {
		problems[finding.Event] = append(problems[finding.Event], finding)
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
			Problems: problems[event.ID],
		})
		delete(problems, event.ID)
	}
	for _, event := range slices.Sorted(maps.Keys(problems)) { // rows of an event that is gone
		found = append(found, reconciled{Event: event, Problems: problems[event]})
	}
	return found, nil
}

// tellReconciled writes it for people.
func tellReconciled(w io.Writer, found []reconciled) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "the ledger holds no event yet: foyer serve puts those of the configuration on sale")
		return err
	}
	for _, event := range found {
		counter := "no counter"
		if event.Counter != nil {
			counter = fmt.Sprintf("counter %d, drift %d, was %d, %d stranded returned", *event.Counter, event.DriftAfter, event.DriftBefore, event.StrandedReturned)
		}
		if _, err := fmt.Fprintf(w, "%s: capacity %d, sold %d, held %d; %s\n", event.Event, event.Capacity, event.Sold, event.Held, counter); err != nil {
			return err
		}
		for _, p := range event.Problems {
			if _, err := fmt.Fprintf(w, "  does not hold: %s: %s: %s\n", p.Invariant, p.Row, p.Detail); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeReconciled is an error where something is wrong still.
func judgeReconciled(found []reconciled) error {
	var errs []error
	for _, event := range found {
		if len(event.Problems) > 0 {
			rows := counted(len(event.Problems), "row breaks", "rows break")
			errs = append(errs, fmt.Errorf("event %s: %s an invariant", event.Event, rows))
		}
		if event.DriftAfter != 0 {
			errs = append(errs, fmt.Errorf("event %s: the counter is off by %d", event.Event, event.DriftAfter))
		}
	}
	return errors.Join(errs...)
}
