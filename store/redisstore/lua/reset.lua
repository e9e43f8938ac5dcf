#!lua flags=allow-oom
-- Begins a new round: those who wait and those with an offer are ended, numbers go on, leases stay.
--
-- ARGV: 1-3 see prelude.lua; 4 id of the round.
-- Returns a standing.

local why = lost()
if why then return {'lost', why} end
if ARGV[4] == m.round then return reply() end

local slots = redis.call('HGETALL', K.slots)
for i = 1, #slots, 2 do
  if string.sub(slots[i + 1], 1, 1) == tostring(OFFER) then
    redis.call('HDEL', K.slots, slots[i])
    redis.call('ZREM', K.ends, slots[i])
  end
end
for _, name in ipairs({'missed', 'missed_by', 'near', 'near_last', 'far', 'far_last', 'kept', 'kept_last', 'ended',
  'held', 'log'}) do
  redis.call('DEL', K[name])
end
step()
put('round', ARGV[4])
put('base', (math.floor(m.tail / 64) + 1) * 64)
put('tail', m.base - 1)
for _, name in ipairs({'admitted', 'waiting'}) do put(name, 0) end
for _, name in ipairs({'near_at', 'far_at', 'kept_at', 'log_mark_at'}) do put(name, now) end
for _, name in ipairs({'log_floor', 'log_mark'}) do put(name, m.seq) end
save()
return reply()
