package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"foyer/config"
)

func newHealthcheck() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running foyer whether it is ready; exit 0 if it is",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				admin, err := adminURL(cmd, "--url")
				if err != nil {
					return err
				}
				url = admin + "/readyz"
			}
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
	cmd.Flags().StringVar(&url, "url", "", "what to ask; empty: /readyz of the admin listener that the configuration names")
	return cmd
}

// adminURL is where the admin listener is reached from this machine: the one of the configuration, or of the default where
// no file was named and none is there. A file that cannot be used is an error, with the flag that does without: else
// another foyer might be asked than the one that is meant.
func adminURL(cmd *cobra.Command, instead string) (string, error) {
	address := config.Default().Server.Admin
	_, err := os.Stat(configPath(cmd))
	if named := cmd.Flags().Changed("config"); named || !errors.Is(err, os.ErrNotExist) {
		cfg, _, err := loadConfig(cmd)
		if err != nil {
			return "", fmt.Errorf("%w\n(or say with %s where to ask)", err, instead)
		}
		address = cfg.Server.Admin
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address, nil
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}
