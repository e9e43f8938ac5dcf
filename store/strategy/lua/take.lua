#!lua
-- Takes units from an event's counter for a group of holds, and records each as pending in the same step. A hold
-- that has a take already takes nothing again. A full Redis refuses this script as a whole, and no other.
-- KEYS[1] counter (hash: remaining, epoch, seq, and for each group its stream id -> how many of it are to be resolved)
-- KEYS[2] takes (hash: hold id -> "<units>" or "<units> <stream id>", pending while the stream has that entry)
-- KEYS[3] groups with pending takes (stream: ids, units, buyers, each a JSON list; all are of the group "replicas")
-- ARGV[1] the replica that answers for these takes until it is silent about them for too long
-- ARGV[2] the ids of the holds, a JSON list, none twice; 2000 at most, as Lua unpacks no more
-- ARGV[3] their units, a JSON list of numbers
-- ARGV[4] their buyers, a JSON list
-- ARGV then the stream ids of earlier groups whose takes are all resolved or have their rows
-- Returns a text with a digit for each hold, 1 (taken), 2 (was taken before) or 0 (not enough remains), and the stream id of
-- those that were taken, empty where none was; false where there is no counter.
local remaining = tonumber(redis.call('HGET', KEYS[1], 'remaining'))
if not remaining or redis.call('EXISTS', KEYS[3]) == 0 then
	return false
end
local changed = false
for i = 5, #ARGV do
	if redis.call('HDEL', KEYS[1], ARGV[i]) == 1 then
		redis.call('XACK', KEYS[3], 'replicas', ARGV[i])
		redis.call('XDEL', KEYS[3], ARGV[i])
		changed = true
	end
end
local ids, units = cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
local answers, taken, entry = {}, {}, ''
for n, before in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
	if before then
		answers[n] = '2'
	elseif units[n] > remaining then
		answers[n] = '0'
	else
		answers[n] = '1'
		remaining = remaining - units[n]
		taken[#taken + 1] = n
	end
end
if #taken > 0 then
	changed = true
	entry = redis.call('XADD', KEYS[3], '*', 'ids', ARGV[2], 'units', ARGV[3], 'buyers', ARGV[4])
	redis.call('XCLAIM', KEYS[3], 'replicas', ARGV[1], 0, entry, 'FORCE', 'JUSTID', 'LASTID', entry) -- pending, unread
	local takes, values = {}, {}
	for i, n in ipairs(taken) do
		local value = values[units[n]]
		if not value then
			value = string.format('%.0f %s', units[n], entry)
			values[units[n]] = value
		end
		takes[2 * i - 1], takes[2 * i] = ids[n], value
	end
	redis.call('HSET', KEYS[2], unpack(takes))
	redis.call('HSET', KEYS[1], entry, #taken, 'remaining', string.format('%.0f', remaining))
end
if changed then
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return { table.concat(answers), entry }
