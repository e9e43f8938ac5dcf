#!lua flags=allow-oom
-- Says what has become of takes. Each is done once: a hold without a take is passed over.
-- KEYS[1] counter (hash: remaining, epoch, seq, and for each group its stream id -> how many of it are pending)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] groups of takes (stream; it begins with the oldest that has a pending take)
-- ARGV[1] how many holds come first whose row is written: their takes are no longer pending
-- ARGV[2] how many come then that are never to be given back
-- ARGV then the ids of these, and of any number whose takes are given back
-- Returns the units given back; false where there is no counter.
if redis.call('EXISTS', KEYS[1], KEYS[3]) < 2 then
	return false
end
local kept, sold = tonumber(ARGV[1]), tonumber(ARGV[2])
local given, changed, settled, parsed = 0, false, {}, {}

-- parse reads a take: its units, and its group while it is pending. The takes of a group read alike.
local function parse(take)
	if not parsed[take] then
		local units, entry = string.match(take, '^(%d+) ?(%S*)$')
		parsed[take] = { units = units, entry = entry ~= '' and entry }
	end
	return parsed[take]
end

-- resolve does a part of the takes: those of the holds whose ids stand in ARGV from first to last.
local function resolve(first, last)
	local held, gone = {}, {}
	for n, take in ipairs(redis.call('HMGET', KEYS[2], unpack(ARGV, first, last))) do
		local i = first + n - 1
		if take then
			local is = parse(take)
			if is.entry then
				settled[is.entry] = (settled[is.entry] or 0) + 1
				changed = true
			end
			if i <= 2 + kept then
				held[#held + 1] = ARGV[i]
				held[#held + 1] = is.units
			else
				gone[#gone + 1] = ARGV[i]
				changed = true
				if i > 2 + kept + sold then
					given = given + tonumber(is.units)
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

for i = 3, #ARGV, 1000 do
	resolve(i, math.min(i + 999, #ARGV))
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
