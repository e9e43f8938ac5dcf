#!lua
-- Gives out consecutive tickets; the first of them get a lease at once while nobody waits and slots are free. It is the
-- one script that a full Redis refuses.
--
-- KEYS: the last one, beyond those of prelude.lua, holds the reply to this request id: 'until first n leased expires
-- refusal round'.
-- ARGV: 1-3 see prelude.lua; 4 how many; 5 'near' or 'far': the interval that those who must wait are told; 6 how long
-- the reply is remembered, ms, 0: not at all.
-- Returns a standing, the first ticket, how many, how many of them leased, when those leases end (ms), why fewer than
-- asked ('full', 'closed', 'store-unavailable' while the line is being restored, or '').

local asked, remember = arg(4), arg(6)
local family = ARGV[5] == 'far' and 'far' or 'near'
local why = lost()
if why then return {'lost', why} end

if remember > 0 then
  local saved = redis.call('GET', KEYS[#KEYS])
  if saved then
    local valid, first, n, leased, expires, refusal, round =
      string.match(saved, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%a*) (.*)$')
    if round == m.round and now < tonumber(valid) then
      return reply(tonumber(first), tonumber(n), tonumber(leased), tonumber(expires), refusal)
    end
  end
end
if now < m.joins_at then return reply(0, 0, 0, 0, 'store-unavailable') end
if closed() then return reply(0, 0, 0, 0, 'closed') end

local leased = 0
if m.waiting == 0 then leased = math.min(asked, grantable()) end
local n = math.min(asked, leased + math.max(0, m.queue_max - m.waiting))
local refusal = n < asked and 'full' or ''
if n == 0 then
  save()
  return reply(0, 0, 0, 0, refusal)
end

-- fill sets the bits of the tickets from first to last, whole bytes at once.
local function fill(bitmap, first, last)
  local from, to = first - m.base, last - m.base
  while from <= to and from % 8 ~= 0 do
    redis.call('SETBIT', K[bitmap], from, 1)
    from = from + 1
  end
  local bytes = math.floor((to - from + 1) / 8)
  if bytes > 0 then
    redis.call('SETRANGE', K[bitmap], from / 8, string.rep('\255', bytes))
    from = from + bytes * 8
  end
  for bit = from, to do redis.call('SETBIT', K[bitmap], bit, 1) end
end

local first, expires = m.tail + 1, 0
for t = first, first + leased - 1 do
  expires = now + m.claim
  hold(t, {kind = LEASE, confirmed = false, start = now, expires = expires})
end
fill(family, first + leased, first + n - 1)
put('tail', m.tail + n)
put('waiting', m.waiting + n - leased)
put('admitted', m.admitted + leased)
spend(leased)
step()
if remember > 0 then
  redis.call('SET', KEYS[#KEYS],
    string.format('%.0f %.0f %d %d %.0f %s %s', now + remember, first, n, leased, expires, refusal, m.round), 'PX', remember)
end
save()
return reply(first, n, leased, expires, refusal)
