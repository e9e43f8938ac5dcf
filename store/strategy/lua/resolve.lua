#!lua flags=allow-oom
-- Says what has become of takes. Each is done once: a hold without a take is passed over.
-- KEYS[1] counter (hash: remaining, epoch, seq, and for each group its stream id -> how many of it are to be resolved)
-- KEYS[2] takes (hash: hold id -> "<units>" or "<units> <stream id>", pending while the stream has that entry)
-- KEYS[3] groups with pending takes (stream: ids, units, buyers, each a JSON list; all are of the group "replicas")
-- ARGV[1] how many holds come first whose row is written: their takes are no longer pending
-- ARGV[2] how many come then that are never to be given back
-- ARGV[3] how many come then whose takes are given back
-- ARGV then the ids of these, and after them the stream ids of groups whose takes are all resolved or have their rows
-- Returns the units given back; false where there is no counter.
if redis.call('EXISTS', KEYS[1], KEYS[3]) < 2 then
	return false
end
local kept = 3 + tonumber(ARGV[1]) -- where those end whose row is written
local sold = kept + tonumber(ARGV[2])
local free = sold + tonumber(ARGV[3])
local given, changed, settled, parsed = 0, false, {}, {}

-- parse reads a take: its units, and the entry that it was taken with. The takes of a group read alike.
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
			if i <= kept then
				held[#held + 1] = ARGV[i]
				held[#held + 1] = is.units
			else
				gone[#gone + 1] = ARGV[i]
				changed = true
				if i > sold then
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

-- close ends a group: whatever still bears its stream id is no longer pending.
local function close(entry)
	if redis.call('HDEL', KEYS[1], entry) == 1 then
		redis.call('XACK', KEYS[3], 'replicas', entry)
		redis.call('XDEL', KEYS[3], entry)
		changed = true
	end
end

for i = 4, free, 1000 do
	resolve(i, math.min(i + 999, free))
end
for entry, n in pairs(settled) do
	local left = tonumber(redis.call('HGET', KEYS[1], entry) or 0) - n
	if left > 0 then
		redis.call('HSET', KEYS[1], entry, left)
	else
		close(entry)
	end
end
for i = free + 1, #ARGV do
	close(ARGV[i])
end
if given > 0 then
	redis.call('HINCRBY', KEYS[1], 'remaining', given)
end
if changed then
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return given
