// Package invariants states in SQL what must hold in a ledger at every moment, for PostgreSQL and SQLite alike: each
// invariant is a query for the rows that break it.
//
// Most of them are constraints too, or follow from the transactions that write; they are looked for all the same, so
// that a restored dump, a hand at the database's prompt or a mistake of ours does not go unseen.
package invariants
