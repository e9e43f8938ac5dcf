package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"foyer/store"
)

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the ledger up to date",
		Long: "Bring the schema of the ledger up to date. Serve does so too when it starts; this is for those who let another\n" +
			"account do it, or do it before the replicas start.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadShopConfig(cmd)
			if err != nil {
				return err
			}
			applied, err := store.Migrate(cmd.Context(), storeSettings(cfg))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the ledger is up to date, %s missing\n", counted(applied, "migration was", "migrations were"))
			return err
		},
	}
}
