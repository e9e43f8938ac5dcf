package main

import (
	"foyer/config"
	"foyer/store"
)

// storeSettings are the stores that the configuration names.
func storeSettings(cfg *config.Config) store.Settings {
	return store.Settings{
		Redis: string(cfg.Store.Redis), Postgres: string(cfg.Store.Postgres), SQLite: cfg.Store.SQLite,
		StateFile: cfg.Store.StateFile, Ledger: cfg.Origin != nil,
	}
}
