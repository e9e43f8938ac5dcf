package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// demoLimit is when the demo ends at the latest.
const demoLimit = 28 * time.Second

// demoResult is the last line of foyer demo --json.
type demoResult struct {
	Capacity     int64   `json:"capacity"`
	Sold         int64   `json:"sold"` // counted from the rows of orders, not from a counter
	Oversold     int64   `json:"oversold"`
	GateCapacity int     `json:"gate_capacity"`
	PeakInside   int     `json:"peak_inside"` // measured in the shop, see loadtest.Meter
	Arrivals     int     `json:"arrivals"`
	GaveUp       int     `json:"gave_up"` // left the line, left without paying, or vanished
	Seconds      float64 `json:"seconds"`
}

// broken says which promise the result breaks, or nothing.
func (r demoResult) broken() error {
	switch {
	case r.Oversold > 0:
		return fmt.Errorf("oversold by %d", r.Oversold)
	case r.PeakInside > r.GateCapacity:
		return fmt.Errorf("%d buyers were inside at once, through a gate of %d", r.PeakInside, r.GateCapacity)
	case r.Sold != r.Capacity:
		return fmt.Errorf("sold %d of %d", r.Sold, r.Capacity)
	default:
		return nil
	}
}

func newDemo() *cobra.Command {
	var asJSON, keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a sale go through a waiting room",
		Long: "Watch a sale go through a waiting room: embedded stores in a temporary folder, 200 simulated buyers over HTTP,\n" +
			"some of whom give up, vanish or never pay. Exits with 0 only if exactly the capacity was sold and the shop never\n" +
			"saw more buyers inside than the gate lets in.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			people := cmd.OutOrStdout()
			if asJSON {
				people = cmd.ErrOrStderr() // nothing but the result on the standard output
			}
			return runDemo(cmd.Context(), people, func(result demoResult) error {
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
				}
				return result.tell(people)
			}, keep)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&keep, "keep", false, "go on serving for a browser until interrupted")
	return cmd
}

// runDemo runs the sale and reports its result; with keep it opens the shop again afterwards, until ctx ends.
func runDemo(ctx context.Context, people io.Writer, report func(demoResult) error, keep bool) error {
	folder, err := os.MkdirTemp("", "foyer-demo-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder)
	limited, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	result, err := runSale(limited, folder, people)
	if err != nil {
		return fmt.Errorf("run the demo: %w", err)
	}
	if err := errors.Join(report(result), result.broken()); err != nil || !keep {
		return err
	}
	return keepShop(ctx, folder, people)
}

// runSale runs the whole sale on stores in the folder given.
func runSale(ctx context.Context, folder string, people io.Writer) (demoResult, error) {
	sale, err := newSale(ctx, demoConfig(folder), people)
	if err != nil {
		return demoResult{}, err
	}
	stop := sale.start(ctx)
	result, err := sale.run(ctx)
	return result, errors.Join(err, stop())
}

// tell says the result in words.
func (r demoResult) tell(w io.Writer) error {
	_, err := fmt.Fprintf(w, "\n%d arrived, %d gave up, %d of %d sold in %.1f s.\nOversold: %d. Most buyers inside at once: %d, through a gate of %d.\n",
		r.Arrivals, r.GaveUp, r.Sold, r.Capacity, r.Seconds, r.Oversold, r.PeakInside, r.GateCapacity)
	return err
}
