package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

func newServe() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the waiting room, and the embedded shop if configured",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, report, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			logger, level, err := newLogger(cfg.Server.Log, cmd.ErrOrStderr())
			if err != nil {
				return misuse{err}
			}
			warn(logger, report)
			app, err := newApp(cmd.Context(), cfg, logger, fitting{})
			if err != nil {
				return err
			}
			if err := app.stores.Ping(cmd.Context())["redis"]; err != nil { // it starts without, and goes on asking
				logger.Warn("redis does not answer", zap.Error(err))
			}
			if err := app.reloads(configPath(cmd), cfg, level); err != nil {
				return errors.Join(err, app.close())
			}
			if isTerminal(cmd.ErrOrStderr()) {
				fmt.Fprintf(cmd.ErrOrStderr(), "foyer is open at %s, and run from %s\n", app.Edge, app.Admin)
			}
			return app.Run(cmd.Context())
		},
	}
}
