#!lua flags=allow-oom
-- Turns an offer into a confirmed lease; a lease is answered as it stands, and confirmed.
--
-- ARGV: 1-3 see prelude.lua; 4 the ticket.
-- Returns a standing and the slot: kind, confirmed, start ms, expires ms; kind 0 where the ticket has none.

local t = arg(4)
local why = lost()
if why then return {'lost', why} end

local s = usable(t)
if s and s.kind == LEASE then
  confirm(t, s)
elseif s then
  s = {kind = LEASE, confirmed = true, start = now, expires = now + math.min(life(), m.max)}
  put_slot(t, s)
  put('admitted', m.admitted + 1)
  step()
end
save()
return slot_reply(s)
