-- What all scripts share: state, clock, refusals, bits. Go puts it, then slots.lua and line.lua, between a script's first
-- line and the rest. It reads and defines; nothing here writes by itself.
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
local TEXT = {run = true, round = true, mode = true, awaited = true}
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
    m[field] = (TEXT[field] or string.sub(field, 1, 5) == 'file.') and value or tonumber(value)
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

-- clock_off is whether the clock does not show what the caller expects, give or take.
local function clock_off(tolerance)
  return arg(3) > 0 and math.abs(now - arg(3)) > math.max(tolerance, m.leeway)
end

-- lost says why this is not the line that the caller knows, or nil.
local function lost()
  local seen_seq, seen_now = arg(2), arg(3)
  if not m.round then return 'nothing has begun' end
  if m.run ~= run then return 'the server has started anew' end
  if ARGV[1] ~= '' and ARGV[1] ~= run then return 'another incarnation' end
  if m.seq < seen_seq then return 'at step ' .. m.seq .. ', after step ' .. seen_seq .. ' was seen' end
  if clock_off(TOLERANCE) then return 'its clock is off by ' .. (now - seen_now) .. ' ms' end
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
