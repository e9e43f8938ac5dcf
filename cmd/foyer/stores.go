package main

import (
	"context"

	"go.uber.org/zap"

	"foyer/config"
	"foyer/store"
)

// openStores opens the stores that the configuration names.
func openStores(ctx context.Context, cfg *config.Config, prefix string, logger *zap.Logger) (*store.Stores, error) {
	return store.Open(ctx, store.Settings{
		Redis: string(cfg.Store.Redis), Prefix: prefix, Postgres: string(cfg.Store.Postgres), SQLite: cfg.Store.SQLite,
		StateFile: cfg.Store.StateFile, Ledger: cfg.Origin != nil, Logger: logger,
	})
}
