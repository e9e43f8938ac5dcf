// Package store decides, once, which stores a process runs on: the line in memory or in Redis, the ledger in SQLite or
// in Postgres, and the strategy that makes holds. Nothing else ever asks which of them it is.
//
// The stores themselves, and all that knows a driver, are in the packages below it.
package store
