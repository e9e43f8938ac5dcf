-- What all scripts share; Go puts it between a script's first line and the rest. It reads, and defines; nothing here
-- writes by itself.
--
-- KEYS (of every script, in this order; keys.go makes them): meta slots ends missed missed_by near near_last far
-- far_last kept kept_last ended held log replicas t1 t2. All are of one gate, so of one hash slot.
-- ARGV (of every script): 1 the run known to the caller, '' if none; 2 the highest step it has seen; 3 what it expects
-- the clock to show, Unix ms, 0 if nothing.
-- Returns (of every script): {'lost', why}, with nothing done; or {'ok', run, seq, now ms, round, ...}.
--
-- Bitmaps count from base: ticket t is bit t - base. Times are Unix ms. Slots are 'kind confirmed start expires'.

local RULES = {'capacity', 'admit_rate', 'mode', 'opens_at', 'closes_at', 'idle', 'max', 'claim', 'hold', 'queue_max',
  'keep', 'returns', 'poll_min', 'poll_max', 'leeway'}
local OFFER, LEASE, LEAVING = 1, 2, 3
local TICK, PER_OFFER, TOLERANCE = 100, 60000, 250

local K = {}
for i, name in ipairs({'meta', 'slots', 'ends', 'missed', 'missed_by', 'near', 'near_last', 'far', 'far_last', 'kept',
  'kept_last', 'ended', 'held', 'log', 'replicas', 't1', 't2'}) do
  K[name] = KEYS[i]
end

-- arg is a numeric argument. Scripts read all of theirs before the first write.
local function arg(i)
  return tonumber(ARGV[i]) or error('argument ' .. i .. ' is no number')
end

-- m is meta; put changes a field and save writes what has changed.
local m, dirty = {}, {}
do
  local flat = redis.call('HGETALL', K.meta)
  for i = 1, #flat, 2 do
    local field, value = flat[i], flat[i + 1]
    local text = field == 'run' or field == 'round' or field == 'mode' or string.sub(field, 1, 5) == 'file.'
    m[field] = text and value or tonumber(value)
  end
end

local function put(field, value)
  m[field], dirty[field] = value, value
end

local function save()
  local flat = {}
  for field, value in pairs(dirty) do
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  if #flat > 0 then redis.call('HSET', K.meta, unpack(flat)) end
end

-- step raises the sequence number.
local function step()
  put('seq', m.seq + 1)
end

-- now is the only reading of the clock. Tests stand it still with clock_ms.
local now = m.clock_ms
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- run is the server's incarnation. Where INFO may not be asked, it is the one that meta was given at random.
local run = m.run
do
  local info = redis.pcall('INFO', 'server')
  if type(info) == 'string' then run = string.match(info, 'run_id:(%w+)') or run end
end

-- lost says why this is not the line that the caller knows, or nil.
local function lost()
  local seen_seq, seen_now = arg(2), arg(3)
  if not m.round then return 'nothing has begun' end
  if m.run ~= run then return 'the server has started anew' end
  if ARGV[1] ~= '' and ARGV[1] ~= run then return 'another incarnation' end
  if m.seq < seen_seq then return 'at step ' .. m.seq .. ', after step ' .. seen_seq .. ' was seen' end
  if seen_now > 0 and math.abs(now - seen_now) > math.max(TOLERANCE, m.leeway) then
    return 'its clock is off by ' .. (now - seen_now) .. ' ms'
  end
  return nil
end

-- reply is a standing and what else a script has to say.
local function reply(...)
  return {'ok', run, m.seq, now, m.round, ...}
end

-- has, set and clear are single bits; clear never lengthens a bitmap.
local function has(bitmap, t)
  return t >= m.base and redis.call('GETBIT', K[bitmap], t - m.base) == 1
end

local function set(bitmap, t)
  redis.call('SETBIT', K[bitmap], t - m.base, 1)
end

local function clear(bitmap, t)
  if has(bitmap, t) then redis.call('SETBIT', K[bitmap], t - m.base, 0) end
end

local LIVE = {'near', 'near_last', 'far', 'far_last'}

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
  set('held', t)
  set('kept', t)
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
  if m.mode ~= 'on' and m.mode ~= 'shadow' or now < m.opens_at or closed() then return 0 end
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
