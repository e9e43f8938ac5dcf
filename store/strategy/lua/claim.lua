#!lua flags=allow-oom
-- Hands pending takes that their replica has been silent about to another one, and forgets replicas that are gone.
-- KEYS[1] counter (hash: remaining, epoch, seq)
-- KEYS[2] takes (hash: hold id -> "<units>" or "<units> <stream id>", pending while the stream has that entry)
-- KEYS[3] groups with pending takes (stream: ids, units, buyers, each a JSON list; all are of the group "replicas")
-- ARGV[1] the replica that asks, which answers for them from now on
-- ARGV[2] how long the silence must have lasted, in milliseconds
-- ARGV[3] the most groups to hand over
-- ARGV[4] after how long without anything a replica is forgotten, in milliseconds
-- Returns three for each take: hold, buyer, units; false where there is no counter.
if redis.call('EXISTS', KEYS[1], KEYS[3]) < 2 then
	return false
end
local answer = {}
local claimed = redis.call('XAUTOCLAIM', KEYS[3], 'replicas', ARGV[1], ARGV[2], '0', 'COUNT', ARGV[3])
for _, entry in ipairs(claimed[2]) do
	local ids, units, buyers = cjson.decode(entry[2][2]), cjson.decode(entry[2][4]), cjson.decode(entry[2][6])
	for n, take in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
		if take == string.format('%.0f %s', units[n], entry[1]) then -- else it is pending no longer
			answer[#answer + 1] = ids[n]
			answer[#answer + 1] = buyers[n]
			answer[#answer + 1] = units[n]
		end
	end
end
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[3], 'replicas')) do
	local about = {}
	for i = 1, #consumer, 2 do
		about[consumer[i]] = consumer[i + 1]
	end
	if about['pending'] == 0 and about['idle'] > tonumber(ARGV[4]) and about['name'] ~= ARGV[1] then
		redis.call('XGROUP', 'DELCONSUMER', KEYS[3], 'replicas', about['name'])
	end
end
return answer
