// Package pgstore is the ledger in PostgreSQL.
//
// # Guarantees
//
// What a method changes, it changes in one transaction in READ COMMITTED. What may not happen is forbidden by named constraints
// (events_never_oversold, buyers_within_limit, attempts_one_open, orders_one_per_hold, …), whatever the code above them
// does; see migrations/.
//
// # Locks
//
// Rows are locked in one order everywhere, so that no two transactions wait for each other:
//
//	webhook → event → hold → attempt → buyer → order
//
// Whoever changes held or sold holds the lock of the event's row first; it covers the buyers' units too, so buyers are
// never locked for themselves. A transaction that moves no units (starting a payment, storing an intent) leaves the
// event's row alone: it is the hot one.
//
// # Time
//
// All times are the database's: clock_timestamp(), read after the locks, in a statement of its own or by what returns the
// locked row, since now() is the start of the transaction and would count the wait. The process's clock and the session's
// time zone play no part. A sweep reads the clock in a subquery: bare, it is asked again for each row, and the whole index is
// read instead of what is due.
//
// # Schema
//
// The tables live in the first schema of the URL's search_path. [Open] brings them up to date under an advisory lock, so
// that several replicas may start at once.
package pgstore
