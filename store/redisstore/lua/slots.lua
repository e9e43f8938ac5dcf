-- What all scripts share about slots: who has one, how it is given, kept and taken. It follows prelude.lua, uses its
-- names, no KEYS or ARGV of its own, and returns nothing; it defines and does not run.

-- slot_of is a ticket's slot, swept or not, or nil.
local function slot_of(t)
  local value = redis.call('HGET', K.slots, t)
  if not value then return nil end
  local kind, confirmed, start, expires = string.match(value, '^(%d) (%d) (%d+) (%d+)$')
  return {kind = tonumber(kind), confirmed = confirmed == '1', start = tonumber(start), expires = tonumber(expires)}
end

-- usable is a ticket's offer or lease that has not run out, whether or not it has been swept, or nil.
local function usable(t)
  local s = slot_of(t)
  if s and s.kind ~= LEAVING and s.expires > now then return s end
  return nil
end

local function put_slot(t, s)
  redis.call('HSET', K.slots, t,
    string.format('%d %d %.0f %.0f', s.kind, s.confirmed and 1 or 0, s.start, s.expires))
  redis.call('ZADD', K.ends, s.expires, t)
end

-- hold gives a ticket a slot. It is not live meanwhile, and its place is kept.
local function hold(t, s)
  put_slot(t, s)
  for _, bitmap in ipairs(LIVE) do clear(bitmap, t) end
  if t >= m.base then
    set('held', t)
    set('kept', t)
  end
end

local function drop_slot(t)
  redis.call('HDEL', K.slots, t)
  redis.call('ZREM', K.ends, t)
  clear('held', t)
  step()
end

-- end_ticket takes a ticket out of the line for good.
local function end_ticket(t)
  step()
  redis.call('HDEL', K.missed, t)
  redis.call('ZREM', K.missed_by, t)
  for _, bitmap in ipairs(LIVE) do clear(bitmap, t) end
  clear('kept', t)
  clear('kept_last', t)
  if t >= m.base then
    set('ended', t)
    redis.call('ZADD', K.log, m.seq, t)
  end
end

-- life is what one renewal gives a lease, ms.
local function life()
  return math.floor(m.idle * 5 / 4) + m.leeway
end

-- confirm notes that a lease's visitor has shown the token.
local function confirm(t, s)
  if s.confirmed then return end
  s.confirmed = true
  s.expires = math.max(s.expires, math.min(now + life(), s.start + m.max))
  put_slot(t, s)
  step()
end

local function closed()
  return m.closes_at > 0 and now >= m.closes_at
end

-- grantable is how many slots may be given now: what capacity and rate leave free. The allowance of offers grows by
-- admit_rate units a millisecond, never past one second's worth (or one offer).
local function grantable()
  if m.mode ~= 'on' and m.mode ~= 'shadow' or now < m.opens_at or now < m.gives_at or closed() then
    return 0
  end
  local free = math.max(0, m.capacity - redis.call('HLEN', K.slots))
  if m.admit_rate == 0 then return free end
  local passed = math.min(math.max(0, now - m.filled_at), 60000)
  put('allowance', math.min(math.max(PER_OFFER, m.admit_rate * 1000), m.allowance + passed * m.admit_rate))
  put('filled_at', now)
  return math.min(free, math.floor(m.allowance / PER_OFFER))
end

local function spend(n)
  if m.admit_rate > 0 and n > 0 then put('allowance', m.allowance - n * PER_OFFER) end
end

-- slot_reply is a slot as Claim and Renew answer it: kind, confirmed, start, expires; kind 0 for none.
local function slot_reply(s)
  if not s then return reply(0, 0, 0, 0) end
  return reply(s.kind, s.confirmed and 1 or 0, s.start, s.expires)
end
