#!lua flags=allow-oom
-- Says what has become of takes. Each is done once: a hold without a take is passed over.
-- KEYS[1] counter (hash: remaining, epoch, seq, and for each group its stream id -> how many of it are pending)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] groups of takes (stream; it begins with the oldest that has a pending take)
-- ARGV two for each hold: id, and "held" (its row is written: no longer pending), "sold" (never to be given back) or
-- "free" (given back); any number of them
-- Returns the units given back; false where there is no counter.
if redis.call('EXISTS', KEYS[1], KEYS[3]) < 2 then
	return false
end
local given, changed, settled = 0, false, {}

-- resolve does a part of the takes: those of the holds whose ids stand in ARGV from first to last.
local function resolve(first, last)
	local ids, held, gone = {}, {}, {}
	for i = first, last, 2 do
		ids[#ids + 1] = ARGV[i]
	end
	for n, take in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
		local id, what = ids[n], ARGV[first + 2 * n - 1]
		if take then
			local units, entry = string.match(take, '^(%d+) ?(%S*)$')
			if entry ~= '' then
				settled[entry] = (settled[entry] or 0) + 1
				changed = true
			end
			if what == 'held' then
				held[#held + 1] = id
				held[#held + 1] = units
			else
				gone[#gone + 1] = id
				changed = true
				if what == 'free' then
					given = given + tonumber(units)
				end
			end
		end
	end
	if #held > 0 then
		redis.call('HSET', KEYS[2], unpack(held))
	end
	if #gone > 0 then
		redis.call('HDEL', KEYS[2], unpack(gone))
	end
end

for i = 1, #ARGV, 2000 do
	resolve(i, math.min(i + 1999, #ARGV))
end
local done = false
for entry, n in pairs(settled) do
	if redis.call('HINCRBY', KEYS[1], entry, -n) <= 0 then
		redis.call('HDEL', KEYS[1], entry)
		redis.call('XACK', KEYS[3], 'replicas', entry)
		done = true
	end
end
if done then
	local oldest = redis.call('XPENDING', KEYS[3], 'replicas')[2]
	if oldest then
		redis.call('XTRIM', KEYS[3], 'MINID', oldest)
	else
		redis.call('XTRIM', KEYS[3], 'MAXLEN', 0)
	end
end
if given > 0 then
	redis.call('HINCRBY', KEYS[1], 'remaining', given)
end
if changed then
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return given
