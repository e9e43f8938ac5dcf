#!lua
-- Takes units from an event's counter for a group of holds, and records each as pending in the same step. A hold
-- that has a take already takes nothing again. A full Redis refuses this script as a whole, and no other.
-- KEYS[1] counter (hash: remaining, epoch, seq, and for each group its stream id -> how many of it are pending)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] groups of takes (stream: hold id -> "<units> <buyer>"; those with pending takes are so of the group "replicas")
-- ARGV[1] the replica that answers for these takes until it is silent about them for too long
-- ARGV then two for each hold: id, none twice, and "<units> <buyer>"; 2000 holds at most, as Lua unpacks no more
-- Returns a text with a digit for each hold: 1 (taken), 2 (was taken before) or 0 (not enough remains); false where there
-- is no counter.
local remaining = tonumber(redis.call('HGET', KEYS[1], 'remaining'))
if not remaining or redis.call('EXISTS', KEYS[3]) == 0 then
	return false
end
local ids = {}
for i = 2, #ARGV, 2 do
	ids[#ids + 1] = ARGV[i]
end
local answers, group, amounts, taken = {}, {}, {}, 0
for n, before in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
	local take = ARGV[2 * n + 1]
	local amount = string.match(take, '^%d+')
	local units = tonumber(amount)
	if before then
		answers[n] = '2'
	elseif units > remaining - taken then
		answers[n] = '0'
	else
		answers[n] = '1'
		taken = taken + units
		amounts[#amounts + 1] = amount
		group[2 * #amounts - 1], group[2 * #amounts] = ids[n], take
	end
end
if taken > 0 then
	local entry = redis.call('XADD', KEYS[3], '*', unpack(group))
	redis.call('XCLAIM', KEYS[3], 'replicas', ARGV[1], 0, entry, 'FORCE', 'JUSTID', 'LASTID', entry) -- pending, unread
	for n, amount in ipairs(amounts) do
		group[2 * n] = amount .. ' ' .. entry
	end
	redis.call('HSET', KEYS[2], unpack(group))
	redis.call('HSET', KEYS[1], entry, #amounts)
	redis.call('HINCRBY', KEYS[1], 'remaining', -taken)
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return table.concat(answers)
