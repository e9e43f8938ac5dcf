#!lua
-- Takes units from an event's counter for a group of holds, and records each as pending in the same step. A hold
-- that has a take already takes nothing again. A full Redis refuses this script as a whole, and no other.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] pending takes (stream: hold, buyer, units, ttl in milliseconds; read by the group "replicas")
-- ARGV[1] the replica that answers for these takes until it is silent about them for too long
-- ARGV then four for each hold: id, buyer, units, ttl in milliseconds
-- Returns for each hold 1 (taken), 2 (was taken before) or 0 (not enough remains); false where there is no counter.
local remaining = tonumber(redis.call('HGET', KEYS[1], 'remaining'))
if not remaining or redis.call('EXISTS', KEYS[3]) == 0 then
	return false
end
local answers, taken, entries = {}, 0, 0
for i = 2, #ARGV, 4 do
	local id, units = ARGV[i], tonumber(ARGV[i + 2])
	if redis.call('HEXISTS', KEYS[2], id) == 1 then
		answers[#answers + 1] = 2
	elseif units > remaining - taken then
		answers[#answers + 1] = 0
	else
		local entry = redis.call('XADD', KEYS[3], '*', 'hold', id, 'buyer', ARGV[i + 1], 'units', ARGV[i + 2], 'ttl', ARGV[i + 3])
		redis.call('HSET', KEYS[2], id, ARGV[i + 2] .. ' ' .. entry)
		taken, entries = taken + units, entries + 1
		answers[#answers + 1] = 1
	end
end
if entries > 0 then
	redis.call('XREADGROUP', 'GROUP', 'replicas', ARGV[1], 'COUNT', entries, 'STREAMS', KEYS[3], '>')
	redis.call('HINCRBY', KEYS[1], 'remaining', -taken)
	redis.call('HINCRBY', KEYS[1], 'seq', 1)
end
return answers
