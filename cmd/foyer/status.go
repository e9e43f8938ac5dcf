package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"foyer/loadtest"
)

// gateStatus is what the admin listener says of a gate, as far as status shows it.
type gateStatus struct {
	Gate      string  `json:"gate"`
	Mode      string  `json:"mode"`
	Capacity  int     `json:"capacity"`
	Active    int     `json:"active"`
	Offered   int     `json:"offered"`
	Waiting   int     `json:"waiting"`
	PerMinute float64 `json:"admitted_per_minute"`
	Store     string  `json:"store"`
}

func newStatus() *cobra.Command {
	var base string
	var watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the gates of a running foyer",
		Long:  "Show the gates of a running foyer. An admin token is read from FOYER_ADMIN_TOKEN.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			live := loadtest.Live{W: cmd.OutOrStdout(), Terminal: isTerminal(cmd.OutOrStdout())}
			for {
				if base == "" {
					base = adminURL(cmd)
				}
				gates, err := askStatus(cmd.Context(), base)
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

// askStatus asks the admin listener for all gates.
func askStatus(ctx context.Context, base string) (gates []gateStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/gates", nil)
	if err != nil {
		return nil, misuse{err}
	}
	if token := os.Getenv("FOYER_ADMIN_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", base, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s: it answers %s", base, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&gates); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", base, err)
	}
	return gates, nil
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
