#!lua flags=allow-oom
-- Ends a ticket for good. Its slot counts for two more ticks, until every replica has heard of it.
--
-- ARGV: 1-3 see prelude.lua; 4 the ticket.
-- Returns a standing.

local t = arg(4)
local why = lost()
if why then return {'lost', why} end

local s = slot_of(t)
local gone = t == 0 or t > m.tail or t < m.base or has('ended', t)
if s and s.kind ~= LEAVING then
  s.kind, s.expires = LEAVING, now + 2 * TICK
  put_slot(t, s)
  step()
end
if not gone then
  if not s and (has('near', t) or has('near_last', t) or has('far', t) or has('far_last', t)) then
    put('waiting', math.max(0, m.waiting - 1))
  end
  end_ticket(t)
end
save()
return reply()
