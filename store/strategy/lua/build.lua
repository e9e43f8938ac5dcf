#!lua flags=allow-oom
-- Makes an event's counter from the ledger, unless there is one of the same epoch or a later one.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash), forgotten: the ledger counts what they have become
-- KEYS[3] groups of takes (stream), forgotten too, and made anew with its group "replicas"
-- ARGV[1] epoch, raised in the ledger by the caller alone
-- ARGV[2] what remains, read after it was raised
-- Returns 1 if it was made, else 0.
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch'))
if epoch and epoch >= tonumber(ARGV[1]) and redis.call('EXISTS', KEYS[3]) == 1 then
	return 0
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('XGROUP', 'CREATE', KEYS[3], 'replicas', '0', 'MKSTREAM')
redis.call('HSET', KEYS[1], 'remaining', ARGV[2], 'epoch', ARGV[1], 'seq', 0)
return 1
