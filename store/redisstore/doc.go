// Package redisstore keeps a gate's line in Redis: the admission.Store that several replicas share.
//
// Each verb is one Lua script of lua/, atomic because Redis runs it alone, and one command on the wire: a tick costs a
// replica one command, whatever the crowd. All keys of a gate carry {gate} and so lie in one hash slot. Scripts read
// the server's clock in one place, check their arguments before the first write, and refuse (admission.ErrLost) where
// meta is missing, the server's run_id is another than the line began under, or the caller has seen a later step. All
// but Join may run while Redis is at maxmemory: a full Redis stops joins and nothing else.
//
// # Keys
//
//	meta                 hash: round, run, seq, tail, base, rules (and as the file had them), sold_out, when windows began
//	slots, ends          hash ticket → kind, confirmed, start, end; sorted set by end
//	near, far, kept      bitmaps from base, each with the window before: who is live, whose place is kept
//	ended, held          bitmaps from base: who gets no slot any more, who has one
//	log                  sorted set step → ticket that ended, or missed an offer (m…), of the last minute or two
//	missed, missed_by    hash ticket → offers let lapse; sorted set by ticket
//	replicas             hash replica → last Sync
//	join:ID              the reply to a Join, for a minute
//	t1, t2               bitmaps of one call
//
// Redis must not evict (maxmemory-policy noeviction), and two primaries that both take writes break every promise
// (min-replicas-to-write). go-redis must not repeat a script on its own; [Dial] sees to it.
package redisstore
