package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func newHealthcheck() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running foyer whether it is ready; exit 0 if it is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client := http.Client{Timeout: 3 * time.Second}
			request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url, nil)
			if err != nil {
				return misuse{err}
			}
			answer, err := client.Do(request)
			if err != nil {
				return fmt.Errorf("ask %s: %w", url, err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("ask %s: it answers %s", url, answer.Status)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "url", "http://127.0.0.1:9090/readyz", "what to ask")
	return cmd
}
