package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"foyer/config"
)

// loadConfig reads the configuration file that was asked for.
func loadConfig(cmd *cobra.Command) (*config.Config, config.Report, error) {
	cfg, report := config.Load(configPath(cmd))
	if err := report.Err(); err != nil {
		return nil, report, misuse{fmt.Errorf("the configuration cannot be used\n\n%w", err)}
	}
	return cfg, report, nil
}

// loadShopConfig reads it for a command that is of no use without the embedded shop.
func loadShopConfig(cmd *cobra.Command) (*config.Config, error) {
	cfg, _, err := loadConfig(cmd)
	if err == nil && cfg.Origin == nil {
		err = misuse{fmt.Errorf("%s has no section origin: there is no shop, and no ledger", configPath(cmd))}
	}
	return cfg, err
}
