// Package sqlitestore is the ledger in an SQLite file, or in memory: the embedded one, for a single process.
//
// # Guarantees
//
// Each method is one transaction. What may not happen is forbidden by the same named constraints as in pgstore, and by
// foreign keys to events, which cost nothing here; see migrations/. A file is in WAL mode with synchronous FULL: what was answered survives a power cut.
//
// # Locks
//
// There is one connection that writes, and each of its transactions begins with BEGIN IMMEDIATE, so writers go one after
// the other and no order of locks is needed. Reads have connections of their own and never wait for the writer.
// ":memory:" has the one connection for both.
//
// # Time
//
// SQLite has no clock of its own: the database's clock is the process's. It is read in one place, after the lock of the
// transaction was taken, and kept in whole microseconds.
package sqlitestore
