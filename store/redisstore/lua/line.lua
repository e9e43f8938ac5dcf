-- What all scripts share about the line as a whole: its beginning, its rounds, who is in it. It follows slots.lua.
--
-- ARGV: the rules, from where a script says, in the order of RULES. It returns nothing; it defines and does not run.

-- lengthen appends zeros to a bitmap up to so many bytes. BITOP takes words as far as its shortest source reaches and
-- single bytes beyond, which takes twenty times as long.
local function lengthen(bitmap, bytes)
  if redis.call('STRLEN', K[bitmap]) < bytes then redis.call('SETBIT', K[bitmap], bytes * 8 - 1, 0) end
end

-- include adds a bitmap to another; t2 is left over.
local function include(into, bitmap)
  local length = redis.call('STRLEN', K[bitmap])
  if length == 0 then return end
  redis.call('COPY', K[bitmap], K.t2, 'REPLACE')
  lengthen(into, length)
  lengthen('t2', redis.call('STRLEN', K[into]))
  redis.call('BITOP', 'OR', K[into], K[into], K.t2)
end

-- except takes a bitmap out of another; t2 is left over.
local function except(from, bitmap)
  local length, have = redis.call('STRLEN', K[bitmap]), redis.call('STRLEN', K[from])
  if length == 0 or have == 0 then return end
  if length > have then
    redis.call('SET', K.t2, redis.call('GETRANGE', K[bitmap], 0, have - 1))
  else
    redis.call('COPY', K[bitmap], K.t2, 'REPLACE')
    lengthen('t2', have)
  end
  redis.call('BITOP', 'AND', K.t2, K[from], K.t2)
  redis.call('BITOP', 'XOR', K[from], K[from], K.t2)
end

-- take adds the bits that a replica counts from its own base, without what is no ticket, and takes them out of others.
-- Who has a slot does not become live by it: a poll that is reported twice would make two missed offers of one silence.
local function take(bitmap, from, bits, ...)
  local top = m.tail - m.base
  local shift = (from - m.base) / 8
  if bits == '' or top < 0 or shift * 8 > top then return end
  if shift > 0 then bits = string.rep('\0', shift) .. bits end
  if shift < 0 then bits = string.sub(bits, 1 - shift) end
  local most = math.floor(top / 8) + 1
  if #bits >= most then
    local last = string.byte(bits, most)
    bits = string.sub(bits, 1, most - 1) .. string.char(last - last % 2 ^ (7 - top % 8))
  end
  redis.call('SET', K.t1, bits)
  if m.base == 0 then clear('t1', 0) end
  if bitmap == 'near' or bitmap == 'far' then except('t1', 'held') end
  include(bitmap, 't1')
  for _, other in ipairs({...}) do except(other, 't1') end
  redis.call('DEL', K.t1, K.t2)
end

-- cut counts the bitmaps from a higher base, so many bytes of eight tickets on.
local function cut(bytes)
  for _, name in ipairs({'near', 'near_last', 'far', 'far_last', 'kept', 'kept_last', 'held', 'ended'}) do
    local rest = redis.call('GETRANGE', K[name], bytes, -1)
    if rest == '' then redis.call('DEL', K[name]) else redis.call('SET', K[name], rest) end
  end
  put('base', m.base + bytes * 8)
  for _, t in ipairs(redis.call('ZRANGEBYSCORE', K.missed_by, '-inf', '(' .. m.base, 'LIMIT', 0, 500)) do
    redis.call('HDEL', K.missed, t)
    redis.call('ZREM', K.missed_by, t)
  end
end

-- who_waits puts who is live, without a slot and not ended into t1.
local function who_waits()
  redis.call('DEL', K.t1)
  for _, bitmap in ipairs(LIVE) do include('t1', bitmap) end
  for _, bitmap in ipairs({'ended', 'held'}) do except('t1', bitmap) end
  redis.call('DEL', K.t2)
end

-- found begins a line; rules are the arguments from at on.
local function found(round, incarnation, at)
  for name, key in pairs(K) do
    if name ~= 'meta' then redis.call('DEL', key) end
  end
  run = run or incarnation
  put('run', run)
  put('round', round)
  for i, name in ipairs(RULES) do
    put('file.' .. name, ARGV[at - 1 + i])
    put(name, name == 'mode' and ARGV[at - 1 + i] or arg(at - 1 + i))
  end
  for _, name in ipairs({'seq', 'tail', 'base', 'admitted', 'waiting', 'log_floor', 'log_mark', 'found', 'joins_at',
    'gives_at', 'fair_at', 'passed', 'sold_out'}) do
    put(name, 0)
  end
  for _, name in ipairs({'near_at', 'far_at', 'kept_at', 'log_mark_at', 'filled_at', 'based_at', 'synced_at',
    'born_at'}) do
    put(name, now)
  end
  put('awaited', '')
  put('allowance', math.max(PER_OFFER, m.admit_rate * 1000))
end

-- reset begins a round in a line: those who wait or have an offer are ended, numbers go on, leases stay.
local function reset(round)
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
  put('round', round)
  put('base', (math.floor(m.tail / 64) + 1) * 64)
  put('tail', m.base - 1)
  for _, name in ipairs({'admitted', 'waiting', 'sold_out'}) do put(name, 0) end
  for _, name in ipairs({'near_at', 'far_at', 'kept_at', 'log_mark_at'}) do put(name, now) end
  for _, name in ipairs({'log_floor', 'log_mark'}) do put(name, m.seq) end
end
