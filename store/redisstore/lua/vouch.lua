#!lua flags=allow-oom
-- Takes over what a validly signed token proves that the line does not know.
--
-- ARGV: 1-3 see prelude.lua; 4 id of the token's round; 5 its ticket; 6 1 for a pass, 0 for a queue token; 7 when the
-- pass's lease began and 8 when the pass ends, ms, 0 for a queue token.
-- Returns a standing and the ticket's lease: kind, confirmed, start ms, expires ms; kind 0 where it has none.

local HOLD_MARGIN = 60000
local t, pass, start, ends = arg(5), arg(6) == 1, arg(7), arg(8)
local why = lost()
if why then return {'lost', why} end

if ARGV[4] ~= m.round and t >= m.base then
  local until_ = m.born_at + math.floor(m.idle * 5 / 4)
  if pass and now < until_ then put('gives_at', math.max(m.gives_at, until_)) end
  save()
  return slot_reply(nil)
end
if t > m.tail then
  put('tail', t)
  step()
end
if t >= m.base and not has('ended', t) then set('kept', t) end

-- readmit gives the holder of a pass its lease back, if the lease may be one that was lost.
local function readmit()
  local longest = math.max(life(), m.claim + m.poll_max, m.hold > 0 and m.hold + HOLD_MARGIN or 0)
  local s = {kind = LEASE, confirmed = true, start = math.min(now, start),
    expires = math.min(ends + m.leeway, now + longest)}
  local held = slot_of(t)
  local full = not held and redis.call('HLEN', K.slots) >= m.capacity
  if now >= m.gives_at or s.expires <= now or has('ended', t) or full or held and held.kind == LEAVING then return end
  hold(t, s)
  step()
end

local s = usable(t)
if pass and not (s and s.kind == LEASE) then
  readmit()
  s = usable(t)
end
save()
if s and s.kind ~= LEASE then s = nil end
return slot_reply(s)
