#!lua flags=allow-oom
-- Says what has become of takes. Each is done once: a hold without a take is passed over.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] pending takes (stream)
-- ARGV two for each hold: id, and "held" (its row is written: no longer pending), "sold" (never to be given back) or
-- "free" (given back)
-- Returns the units given back; false where there is no counter.
if redis.call('EXISTS', KEYS[1], KEYS[3]) < 2 then
	return false
end
local given, changed = 0, false
for i = 1, #ARGV, 2 do
	local id, what = ARGV[i], ARGV[i + 1]
	local take = redis.call('HGET', KEYS[2], id)
	if take then
		local units, entry = string.match(take, '^(%d+) ?(%S*)$')
		if entry ~= '' then
			redis.call('XACK', KEYS[3], 'replicas', entry)
			redis.call('XDEL', KEYS[3], entry)
			changed = true
		end
		if what == 'held' then
			redis.call('HSET', KEYS[2], id, units)
		else
			redis.call('HDEL', KEYS[2], id)
			changed = true
			if what == 'free' then
				given = given + tonumber(units)
			end
		end
	end
end
if given > 0 then
	redis.call('HINCRBY', KEYS[1], 'remaining', given)
end
if changed then
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return given
