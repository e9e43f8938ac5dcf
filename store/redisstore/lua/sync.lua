#!lua flags=allow-oom
-- One tick of one replica: takes over whom it has seen, ends what has run out, offers what is free, and tells the state.
--
-- ARGV: 1-3 see prelude.lua; 4 the replica's id; 5 base and 6 bits of those told the near interval; 7 and 8 of those
-- told the far one; 9 tickets to confirm and 10 tickets with a request in flight, each separated by spaces; 11 the step
-- up to which the replica knows who has ended, 0: nothing; 12 1 if the shop has said that nothing is left, 0 that
-- something is, '' if it has said nothing.
-- Returns a standing; tail; base; leases given in this round; the bitmap of who waits; slots as one text of
-- 'ticket kind confirmed start expires' one after the other (as thousands of values they cost twice the time); when
-- slots are given again, ms, 0: they are; 1 if what follows is whole, else 0; who has ended as a bitmap (whole) or a
-- list; missed offers as ticket, count pairs; replicas as id, ms pairs; the effective rules in the order of RULES; 1 if nothing is left
-- to sell, else 0.

local PER_SYNC, BASE_EVERY, LOG_KEPT, LOG_MOST, REPLICA_KEPT = 500, 1000, 60000, 20000, 60000
local SILENCE, CUT_OFF = 1000, 500
local near_base, far_base, since = arg(5), arg(7), arg(11)
local sold_out = ARGV[12] ~= '' and arg(12)
local why = lost()
if why then return {'lost', why} end

-- stand lets the windows and the offers stand still for as long as no replica synced: nobody could be heard then. Else
-- who polls at another replica than the first that is back would be passed over, and who could not claim would have
-- missed an offer.
local function stand()
  local silence = now - m.synced_at
  if silence > SILENCE then
    for _, name in ipairs({'near_at', 'far_at', 'kept_at'}) do put(name, m[name] + silence) end
    local flat = redis.call('HGETALL', K.slots)
    for i = 1, #flat, 2 do
      if tonumber(string.sub(flat[i + 1], 1, 1)) == OFFER then
        local s = slot_of(flat[i])
        s.expires = s.expires + silence
        put_slot(flat[i], s)
      end
    end
  end
  put('synced_at', now)
end

-- turn begins the next window of a pair if this one is over; with feed, who drops out is kept.
local function turn(name, length, feed)
  if now < m[name .. '_at'] + length then return end
  local this, last = K[name], K[name .. '_last']
  if feed then
    except(name .. '_last', 'ended')
    include('kept', name .. '_last')
    redis.call('DEL', K.t2)
  end
  if redis.call('EXISTS', this) == 1 then redis.call('RENAME', this, last) else redis.call('DEL', last) end
  put(name .. '_at', now)
end

-- prolong keeps a lease with a request in flight, to its bound at most.
local function prolong(t)
  local s = usable(t)
  if not s or s.kind ~= LEASE then return end
  local wanted = math.min(now + (s.confirmed and life() or m.claim), s.start + m.max)
  if wanted > s.expires then
    s.expires = wanted
    put_slot(t, s)
    step()
  end
end

-- lapse ends a slot that has run out, and its ticket where it has been long enough inside or missed too many offers.
local function lapse(t)
  local s = slot_of(t)
  drop_slot(t)
  if s.kind == LEAVING or t < m.base then return end
  if s.kind == LEASE and s.expires >= s.start + m.max then return end_ticket(t) end
  if s.kind == OFFER and s.start >= m.fair_at then
    if redis.call('HINCRBY', K.missed, t, 1) > m.returns then return end_ticket(t) end
    redis.call('ZADD', K.missed_by, t, t)
    redis.call('ZADD', K.log, m.seq, 'm' .. string.format('%.0f', t))
  end
  set('kept', t)
end

-- offer gives the free slots to the lowest in t1, and takes them out. Whoever was last told the far interval may hear
-- of it later.
local function offer()
  local given, from = 0, 0
  for _ = 1, math.min(PER_SYNC, grantable()) do
    local bit = redis.call('BITPOS', K.t1, 1, from)
    if bit < 0 then break end
    local t = m.base + bit
    local wait = (has('near', t) or has('near_last', t)) and 0 or m.poll_max
    hold(t, {kind = OFFER, confirmed = false, start = now, expires = now + m.claim + wait})
    redis.call('SETBIT', K.t1, bit, 0)
    step()
    given, from = given + 1, math.floor(bit / 8)
  end
  spend(given)
end

-- trim forgets what the log has kept for a minute or two.
local function trim()
  if now >= m.log_mark_at + LOG_KEPT then
    redis.call('ZREMRANGEBYSCORE', K.log, '-inf', m.log_mark)
    put('log_floor', math.max(m.log_floor, m.log_mark))
    put('log_mark', m.seq)
    put('log_mark_at', now)
  end
  local surplus = redis.call('ZCARD', K.log) - LOG_MOST
  if surplus > 0 then
    local last = redis.call('ZRANGE', K.log, surplus - 1, surplus - 1, 'WITHSCORES')[2]
    redis.call('ZREMRANGEBYSCORE', K.log, '-inf', last)
    put('log_floor', math.max(m.log_floor, tonumber(last)))
  end
end

-- rebase moves the base up to the lowest ticket that is live, kept, or has a slot, so that the bitmaps stay as short as
-- the line.
local function rebase()
  if now < m.based_at + BASE_EVERY then return end
  put('based_at', now)
  local lowest = m.tail + 1 - m.base
  for _, name in ipairs({'near', 'near_last', 'far', 'far_last', 'kept', 'kept_last', 'held'}) do
    local bit = redis.call('BITPOS', K[name], 1)
    if bit >= 0 then lowest = math.min(lowest, bit) end
  end
  local bytes = math.floor(lowest / 64) * 8
  if bytes > 0 then cut(bytes) end
end

-- heard notes this replica's Sync and returns those of the last minute. Offers of a time in which some replica could not
-- be heard are forgiven: their visitors may ask there, where nothing can be claimed. A replica that is gone for good is
-- taken to be cut off until it is left out.
local function heard()
  local flat, fresh = redis.call('HGETALL', K.replicas), {ARGV[4], tostring(now)}
  for i = 1, #flat, 2 do
    local id, at = flat[i], tonumber(flat[i + 1])
    if at < now - CUT_OFF then put('fair_at', math.max(m.fair_at, now)) end
    if at < now - REPLICA_KEPT then
      redis.call('HDEL', K.replicas, id)
    elseif id ~= ARGV[4] then
      fresh[#fresh + 1] = id
      fresh[#fresh + 1] = flat[i + 1]
    end
  end
  redis.call('HSET', K.replicas, ARGV[4], now)
  return fresh
end

-- news is what has ended and been missed since the replica last heard: whole (1 or 0), ended, missed.
local function news()
  if since == 0 or since < m.log_floor then
    return 1, redis.call('GET', K.ended) or '', redis.call('HGETALL', K.missed)
  end
  local ended, missed = {}, {}
  for _, what in ipairs(redis.call('ZRANGEBYSCORE', K.log, '(' .. since, '+inf')) do
    if string.sub(what, 1, 1) ~= 'm' then
      ended[#ended + 1] = what
    else
      local t = string.sub(what, 2)
      missed[#missed + 1] = t
      missed[#missed + 1] = redis.call('HGET', K.missed, t) or '0'
    end
  end
  return 0, ended, missed
end

stand()
local replicas = heard()
if sold_out then put('sold_out', sold_out) end
for t in string.gmatch(ARGV[9], '%d+') do
  local s = usable(t)
  if s and s.kind == LEASE then confirm(t, s) end
end
for t in string.gmatch(ARGV[10], '%d+') do prolong(t) end
for _, t in ipairs(redis.call('ZRANGEBYSCORE', K.ends, '-inf', now, 'LIMIT', 0, PER_SYNC)) do lapse(tonumber(t)) end
take('near', near_base, ARGV[6])
take('far', far_base, ARGV[8], 'near', 'near_last') -- an offer must last until they can hear of it
turn('near', math.floor(m.poll_min * 3 / 2) + 200, true)
turn('far', math.floor(m.poll_max * 6 / 5), true)
turn('kept', m.keep, false)
rebase()
who_waits()
offer()
put('waiting', redis.call('BITCOUNT', K.t1))
local waiting = redis.call('GET', K.t1) or ''
redis.call('DEL', K.t1)
trim()
save()

local rules = {}
for i, name in ipairs(RULES) do rules[i] = tostring(m[name]) end
local whole, ended, missed = news()
return reply(m.tail, m.base, m.admitted, waiting, table.concat(redis.call('HGETALL', K.slots), ' '),
  now < m.gives_at and m.gives_at or 0, whole, ended, missed, replicas, rules, m.sold_out or 0)
