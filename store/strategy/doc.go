// Package strategy makes holds: the decrement, in five ways that stand side by side, one file each with the same parts
// in the same order. Four are those of the article that this project grew from; group_commit is ours, and the default.
//
//	             how units are taken                              never    commits per  beside       after a
//	                                                              oversold hold         the ledger   crash
//	naive        read, check, write                               no       2            nothing      –
//	pessimistic  select … for update, check, write                yes      1            nothing      nothing to do
//	atomic_db    update … where enough remains                    yes      1            nothing      nothing to do
//	group_commit the same for all that arrived meanwhile          yes      1/group      nothing      nothing to do
//	atomic_redis a script takes from a counter; then as above     yes      1/group      a counter    reconcile
//
// In all but naive a hold is true once its row is in the ledger, and the check of the capacity, the check of the buyer's
// limit and the row are one transaction there. So nothing beside the ledger can oversell: the counter of atomic_redis
// spares the ledger those who come too late, and may be wrong, slow or gone.
//
// # What a group is
//
// A batcher per event gives whatever arrived while the last transaction ran to the next one. A hot row then costs one
// commit per group, not per buyer; nobody waits for a group to fill. Members are decided in the order of their arrival,
// each whole or not at all.
//
// # The life of a take (atomic_redis)
//
//	take ──▶ pending ──row written──▶ held ──sold──▶ forgotten
//	           │                       │
//	           └─refused, or voided────┴─ended──▶ given back
//
// A take is kept by its hold's id from the moment the counter goes down until it is given back or sold, so each step is
// done once however often it is asked for. While the ledger's row is still to come, the group that it was taken with is also
// an entry of a stream. The entry is its replica's (a consumer of the stream's group) until it is silent for the grace; then
// another replica claims it. Once the ledger has spoken of the whole group the entry is deleted, by the event's next take if
// there is one soon: that says at once of all who still bear its id that their rows are written. A take that stays pending is
// voided: first by a tombstone in the ledger, so that the hold can never come true any more, then in the counter.
package strategy
