#!lua flags=allow-oom
-- Merges what one replica knows into the line, and makes it the line of the server's present incarnation.
--
-- ARGV: 1-3 see prelude.lua, as the replica last saw them (they are compared, not refused); 4 the replica's id; 5 the
-- clock at its last answer, ms; 6 id of its round, '' if it knows none; 7 tail; 8 how many numbers above it may have
-- been given out; 9 base; 10 base and 11 bits of who waits; 12 slots as 'ticket kind confirmed start expires' one after
-- the other; 13 base and 14 bits of who has ended; 15 missed offers as 'ticket count' one after the other; 16 leases
-- given in the round; 17 an incarnation, for where INFO may not be asked; 18-32 the file's rules and 33-47 the effective
-- ones, in the order of RULES; 48 1 if nothing is left to sell, else 0.
-- Returns a standing.

-- LATE is the longest that a call whose answer is still read may have been under way. Less is no clock that was set.
local RESTORE_WAIT, HOLD_MARGIN, REPLICA_KEPT, LATE = 3000, 60000, 60000, 1000
local seen_seq, as_of, tail, spare, base, waiting_base = arg(2), arg(5), arg(7), arg(8), arg(9), arg(10)
local ended_base, admitted, sold_out = arg(13), arg(16), arg(48)
local replica, round = ARGV[4], ARGV[6]
for i, name in ipairs(RULES) do
  if name ~= 'mode' then arg(17 + i); arg(32 + i) end
end
if not m.round and round == '' then return {'lost', 'neither the store nor the replica holds it'} end

-- take_rules takes over what is set, and whether something is left to sell.
local function take_rules()
  for i, name in ipairs(RULES) do
    put('file.' .. name, ARGV[17 + i])
    put(name, name == 'mode' and ARGV[32 + i] or arg(32 + i))
  end
  put('sold_out', sold_out)
end

-- adopt makes the line found in a server that has started anew that of its present incarnation. All replicas heard of
-- in its last minute are awaited.
local function adopt()
  local flat, newest, awaited = redis.call('HGETALL', K.replicas), 0, ''
  for i = 2, #flat, 2 do newest = math.max(newest, tonumber(flat[i])) end
  for i = 1, #flat, 2 do
    if tonumber(flat[i + 1]) >= newest - REPLICA_KEPT then awaited = awaited .. flat[i] .. ' ' end
  end
  put('run', run)
  put('born_at', now)
  put('found', m.seq)
  put('passed', 0)
  put('awaited', awaited)
end

-- replace begins the round of an image that has seen more. Those inside from rounds before it stay.
local function replace()
  reset(round)
  for _, t in ipairs(redis.call('HKEYS', K.slots)) do
    if tonumber(t) >= base then
      redis.call('HDEL', K.slots, t)
      redis.call('ZREM', K.ends, t)
    end
  end
  put('base', base)
  put('tail', math.max(base, 1) - 1)
  put('born_at', now)
end

-- longest is the longest that any slot has left to live by itself, ms.
local function longest()
  return math.max(life(), m.claim + m.poll_max, m.hold > 0 and m.hold + HOLD_MARGIN or 0)
end

-- unite takes over a slot of the image, while capacity allows; of two ends the later counts.
local function unite(t, s)
  s.start, s.expires = math.min(now, s.start), math.min(s.expires, now + longest())
  if s.kind ~= OFFER and s.kind ~= LEASE or s.expires <= now or t > m.tail or has('ended', t) then return end
  if s.kind == OFFER then s.expires = math.max(s.expires, now + m.claim) end -- nobody could claim meanwhile
  local held = slot_of(t)
  if not held then
    if redis.call('HLEN', K.slots) < m.capacity then hold(t, s) end
  elseif held.kind == OFFER and s.kind == LEASE then
    put_slot(t, s)
  elseif held.kind == s.kind then
    held.confirmed = held.confirmed or s.confirmed
    held.start, held.expires = math.min(held.start, s.start), math.max(held.expires, s.expires)
    put_slot(t, held)
  end
end

-- merge unites an image of this round with the line. Who was silent at the time is in no image: all are kept.
local function merge(news)
  if news then take_rules() end
  put('tail', math.max(m.tail, tail + spare))
  put('admitted', math.max(m.admitted, admitted))
  if base > m.base then cut((base - m.base) / 8) end
  take('ended', ended_base, ARGV[14])
  take('far', waiting_base, ARGV[11])
  except('far', 'ended')
  if m.tail >= m.base then take('kept', m.base, string.rep('\255', math.floor((m.tail - m.base) / 8) + 1)) end
  except('kept', 'ended')
  redis.call('DEL', K.t2)
  for t, n in string.gmatch(ARGV[15], '(%d+) (%d+)') do
    t, n = tonumber(t), tonumber(n)
    if t >= m.base and n > tonumber(redis.call('HGET', K.missed, t) or 0) then
      redis.call('HSET', K.missed, t, n)
      redis.call('ZADD', K.missed_by, t, t)
    end
  end
  for _, t in ipairs(redis.call('HKEYS', K.missed)) do
    if has('ended', tonumber(t)) then
      redis.call('HDEL', K.missed, t)
      redis.call('ZREM', K.missed_by, t)
    end
  end
  for _, id in ipairs(redis.call('HKEYS', K.slots)) do
    local t, s = tonumber(id), slot_of(id)
    if has('ended', t) and s.kind ~= LEAVING then
      s.kind, s.expires = LEAVING, now + 2 * TICK
      put_slot(t, s)
    end
  end
  for t, kind, confirmed, start, expires in string.gmatch(ARGV[12], '(%d+) (%d) (%d) (%d+) (%d+)') do
    unite(tonumber(t), {kind = tonumber(kind), confirmed = confirmed == '1', start = tonumber(start),
      expires = tonumber(expires)})
  end
end

-- pause puts off tickets and slots while something may be missing.
local function pause()
  local missing = m.passed == 1 or m.awaited ~= ''
  put('joins_at', missing and m.born_at + RESTORE_WAIT or 0)
  put('gives_at', missing and m.born_at + math.floor(m.idle * 5 / 4) or 0)
  -- Many are taken to be live who are not.
  if missing then put('fair_at', math.max(m.fair_at, m.gives_at + 2 * math.floor(m.poll_max * 6 / 5))) end
end

if not m.round then
  found(round, ARGV[17], 18)
  take_rules()
  put('base', base)
  put('tail', math.max(base, 1) - 1)
  put('passed', 1)
elseif m.run ~= run then
  adopt()
end

local awaited = ''
for id in string.gmatch(m.awaited, '%S+') do
  if id ~= replica then awaited = awaited .. id .. ' ' end
end
put('awaited', awaited)

local off = clock_off(LATE)
local news = round ~= '' and seen_seq > m.seq
local known = as_of > m.born_at and not news or seen_seq <= m.found
if off or news and as_of > m.born_at then put('born_at', now) end
if off or news then put('passed', 1) end
if round ~= '' and not known then
  if round ~= m.round and news then replace() end
  if round == m.round then merge(news) end
  put('seq', math.max(m.seq, seen_seq) + 1)
  for _, name in ipairs({'log_floor', 'log_mark'}) do put(name, m.seq) end
  put('log_mark_at', now)
  redis.call('DEL', K.log)
  who_waits()
  put('waiting', redis.call('BITCOUNT', K.t1))
  redis.call('DEL', K.t1)
end
pause()
save()
return reply()
