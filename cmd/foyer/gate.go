package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"foyer/loadtest"
)

// lookEvery is how often drain asks how many are inside.
const lookEvery = time.Second

// gateCommand is what the subcommands of foyer gate share.
type gateCommand struct {
	base   string
	asJSON bool
}

func newGate() *cobra.Command {
	g := &gateCommand{}
	cmd := newGroup("gate", "Pause, resume, change or drain a gate of a running foyer",
		g.newPause(), g.newResume(), g.newSet(), g.newDrain())
	cmd.Long = cmd.Short + ", on every replica at once. What is changed survives a restart, until the same key\n" +
		"changes in the configuration file. An admin token is read from FOYER_ADMIN_TOKEN."
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.base, "admin", "", "`URL` of the admin listener; empty: the one that the configuration names")
	flags.BoolVar(&g.asJSON, "json", false, "print how the gate stands in the end as JSON, as the admin API has it")
	return cmd
}

func (g *gateCommand) newPause() *cobra.Command {
	return &cobra.Command{
		Use:   "pause GATE",
		Short: "Let nobody in any more; those inside stay, and people may still join the line",
		Args:  exactly("GATE"),
		RunE:  func(cmd *cobra.Command, args []string) error { return g.change(cmd, args[0], mode("paused")) },
	}
}

func (g *gateCommand) newResume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume GATE",
		Short: "Let people in again (mode on)",
		Args:  exactly("GATE"),
		RunE:  func(cmd *cobra.Command, args []string) error { return g.change(cmd, args[0], mode("on")) },
	}
}

func (g *gateCommand) newSet() *cobra.Command {
	var capacity, rate int
	var to string
	cmd := &cobra.Command{
		Use:     "set GATE",
		Short:   "Change the capacity, the rate or the mode",
		Example: "  foyer gate set final --capacity 80 --admit-rate 600",
		Args:    exactly("GATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var change gateChange
			if cmd.Flags().Changed("capacity") {
				change.Capacity = &capacity
			}
			if cmd.Flags().Changed("admit-rate") {
				change.AdmitRate = &rate
			}
			if cmd.Flags().Changed("mode") {
				change.Mode = &to
			}
			if change == (gateChange{}) {
				return misuse{errors.New("nothing to set: give --capacity, --admit-rate or --mode")}
			}
			return g.change(cmd, args[0], change)
		},
	}
	cmd.Flags().IntVar(&capacity, "capacity", 0, "how many may be inside at once")
	cmd.Flags().IntVar(&rate, "admit-rate", 0, "how many are let in a `minute` at most; 0: as many as there are slots")
	cmd.Flags().StringVar(&to, "mode", "", "`MODE` on, off, paused or shadow")
	return cmd
}

func (g *gateCommand) newDrain() *cobra.Command {
	var most time.Duration
	cmd := &cobra.Command{
		Use:   "drain GATE",
		Short: "Pause, and report until nobody is inside",
		Long: "Pause, and report until nobody is inside and no offer is open. The gate stays paused. Exit code 1 where somebody is\n" +
			"still inside when --for is over, or where the gate was let go on meanwhile.",
		Args: exactly("GATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if most > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, most)
				defer cancel()
			}
			return g.drain(ctx, cmd, args[0])
		},
	}
	cmd.Flags().DurationVar(&most, "for", 0, "how long to wait at most; 0: until nobody is inside")
	return cmd
}

// mode is a change of the mode alone.
func mode(to string) gateChange { return gateChange{Mode: &to} }

// operator is the one of the listener that was asked for.
func (g *gateCommand) operator(cmd *cobra.Command) (operator, error) {
	if g.base != "" {
		return operator{g.base}, nil
	}
	base, err := adminURL(cmd, "--admin")
	return operator{base}, err
}

// change changes a gate and says how it stands then.
func (g *gateCommand) change(cmd *cobra.Command, gate string, change gateChange) error {
	o, err := g.operator(cmd)
	if err != nil {
		return err
	}
	status, raw, err := o.change(cmd.Context(), gate, change)
	if err != nil {
		return err
	}
	return g.tell(cmd.OutOrStdout(), status, raw)
}

// tell says how a gate stands.
func (g *gateCommand) tell(w io.Writer, s gateStatus, raw []byte) error {
	if g.asJSON {
		_, err := fmt.Fprintf(w, "%s\n", raw)
		return err
	}
	rate := "no rate"
	if s.AdmitRate > 0 {
		rate = fmt.Sprintf("%d a minute", s.AdmitRate)
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s; %d of %d inside, %d offered, %d waiting\n",
		s.Gate, s.Mode, rate, s.Active, s.Capacity, s.Offered, s.Waiting)
	return err
}

// drain pauses a gate and looks until nobody is inside. What is said while the store does not answer is old and ends
// nothing; that the listener does not answer for once is no reason to give up either.
func (g *gateCommand) drain(ctx context.Context, cmd *cobra.Command, gate string) error {
	o, err := g.operator(cmd)
	if err != nil {
		return err
	}
	people := cmd.OutOrStdout()
	if g.asJSON {
		people = cmd.ErrOrStderr()
	}
	live := loadtest.Live{W: people, Terminal: isTerminal(people)}
	status, raw, err := o.change(cmd.Context(), gate, mode("paused"))
	if err != nil {
		return err
	}
	for {
		switch held := status.Active + status.Offered + status.Leaving; {
		case err != nil:
		case status.Mode != "paused":
			return fmt.Errorf("drain %s: its mode is %s again", gate, status.Mode)
		case held == 0 && status.Store == "ok":
			return g.tell(cmd.OutOrStdout(), status, raw)
		default:
			live.Show(time.Now(), []loadtest.Gauge{
				{Label: "inside", Value: status.Active, Of: status.Capacity}, {Label: "offered", Value: status.Offered},
			})
		}
		if sleep(ctx, lookEvery) != nil {
			return fmt.Errorf("drain %s: %d are inside and %d have an offer; it stays paused", gate, status.Active, status.Offered)
		}
		next, text, asked := o.gate(ctx, gate)
		if err = asked; err == nil {
			status, raw = next, text
		}
	}
}
