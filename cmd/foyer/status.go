package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"foyer/loadtest"
)

func newStatus() *cobra.Command {
	var base string
	var watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the gates of a running foyer",
		Long:  "Show the gates of a running foyer. An admin token is read from FOYER_ADMIN_TOKEN.",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			live := loadtest.Live{W: cmd.OutOrStdout(), Terminal: isTerminal(cmd.OutOrStdout())}
			if base == "" {
				var err error
				if base, err = adminURL(cmd, "--admin"); err != nil {
					return err
				}
			}
			for {
				gates, err := operator{base}.gates(cmd.Context())
				if err != nil {
					return err
				}
				if !watch {
					return tellStatus(cmd.OutOrStdout(), gates)
				}
				live.Show(time.Now(), statusGauges(gates))
				if sleep(cmd.Context(), time.Second) != nil {
					return nil // the watcher has seen enough
				}
			}
		},
	}
	cmd.Flags().StringVar(&base, "admin", "", "`URL` of the admin listener; empty: the one that the configuration names")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on showing until interrupted")
	return cmd
}

func tellStatus(w io.Writer, gates []gateStatus) error {
	table := loadtest.Table{Title: "gates", Columns: []string{"gate", "mode", "inside", "offered", "waiting", "a minute", "store"}}
	for _, gate := range gates {
		table.Rows = append(table.Rows, []string{
			gate.Gate, gate.Mode, fmt.Sprintf("%d of %d", gate.Active, gate.Capacity), fmt.Sprint(gate.Offered),
			fmt.Sprint(gate.Waiting), fmt.Sprintf("%.1f", gate.PerMinute), gate.Store,
		})
	}
	return table.Text(w)
}

func statusGauges(gates []gateStatus) []loadtest.Gauge {
	var gauges []loadtest.Gauge
	for _, gate := range gates {
		gauges = append(gauges,
			loadtest.Gauge{Label: gate.Gate, Value: gate.Active, Of: gate.Capacity},
			loadtest.Gauge{Label: "waiting", Value: gate.Waiting})
	}
	return gauges
}
