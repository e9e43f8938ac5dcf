#!lua flags=no-writes,allow-oom
-- Reads an event's counter with its pending takes, as of one moment.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash: hold id -> "<units>" or "<units> <stream id>", pending while the stream has that entry)
-- KEYS[3] groups with pending takes (stream: ids, units, buyers, each a JSON list; all are of the group "replicas")
-- Returns remaining, epoch, seq, the number of takes, the last stream id that was given, and then three for each pending take:
-- hold, units, its age in milliseconds; false where there is no counter.
local counter = redis.call('HMGET', KEYS[1], 'remaining', 'epoch', 'seq')
if not counter[1] or redis.call('EXISTS', KEYS[3]) == 0 then
	return false
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local about, stream = redis.call('XINFO', 'STREAM', KEYS[3]), {}
for i = 1, #about, 2 do
	stream[about[i]] = about[i + 1]
end
local answer = {
	tonumber(counter[1]), tonumber(counter[2]), tonumber(counter[3]), redis.call('HLEN', KEYS[2]), stream['last-generated-id'],
}
for _, entry in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
	local made = tonumber(string.match(entry[1], '^%d+'))
	local ids, units = cjson.decode(entry[2][2]), cjson.decode(entry[2][4])
	for n, take in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
		if take == string.format('%.0f %s', units[n], entry[1]) then -- else it is pending no longer
			answer[#answer + 1] = ids[n]
			answer[#answer + 1] = units[n]
			answer[#answer + 1] = now - made
		end
	end
end
return answer
