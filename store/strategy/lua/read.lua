#!lua flags=no-writes,allow-oom
-- Reads an event's counter with its pending takes, as of one moment.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash: hold id -> "<units>" or, while pending, "<units> <stream id>")
-- KEYS[3] groups of takes (stream: hold id -> "<units> <buyer>")
-- Returns remaining, epoch, seq, the number of takes, the server's time in milliseconds, and then three for each pending
-- take: hold, units, its age in milliseconds; false where there is no counter.
local counter = redis.call('HMGET', KEYS[1], 'remaining', 'epoch', 'seq')
if not counter[1] or redis.call('EXISTS', KEYS[3]) == 0 then
	return false
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = { tonumber(counter[1]), tonumber(counter[2]), tonumber(counter[3]), redis.call('HLEN', KEYS[2]), now }
for _, entry in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
	local made = tonumber(string.match(entry[1], '^%d+'))
	local group = entry[2]
	for i = 1, #group, 2 do
		local units = string.match(group[i + 1], '^%d+')
		if redis.call('HGET', KEYS[2], group[i]) == units .. ' ' .. entry[1] then -- else it is pending no longer
			answer[#answer + 1] = group[i]
			answer[#answer + 1] = tonumber(units)
			answer[#answer + 1] = now - made
		end
	end
end
return answer
