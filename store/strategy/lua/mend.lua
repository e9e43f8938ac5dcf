#!lua flags=allow-oom
-- Adds to an event's counter, but only if nothing was taken, acknowledged or given back since it was read.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- ARGV[1] epoch as it was read
-- ARGV[2] seq as it was read
-- ARGV[3] units to add, may be negative
-- Returns 1 if it was done, else 0.
local counter = redis.call('HMGET', KEYS[1], 'epoch', 'seq')
if counter[1] ~= ARGV[1] or counter[2] ~= ARGV[2] then
	return 0
end
redis.call('HINCRBY', KEYS[1], 'remaining', ARGV[3])
redis.call('HINCRBY', KEYS[1], 'seq', 1)
return 1
