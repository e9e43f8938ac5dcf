#!lua flags=allow-oom
-- Moves a lease's end to a later time, never past its bound, and confirms it. It resurrects nothing.
--
-- ARGV: 1-3 see prelude.lua; 4 the ticket; 5 until when, Unix ms.
-- Returns a standing and the slot: kind, confirmed, start ms, expires ms; kind 0 where the ticket has no lease.

local t, wanted = arg(4), arg(5)
local why = lost()
if why then return {'lost', why} end

local s = usable(t)
if not s or s.kind ~= LEASE then return slot_reply(nil) end
local bound = s.start + m.max
if m.hold > 0 and wanted > bound then bound = bound + m.hold + 60000 end
local expires = math.max(s.expires, math.min(wanted, bound))
if expires ~= s.expires or not s.confirmed then
  s.expires, s.confirmed = expires, true
  put_slot(t, s)
  step()
end
save()
return slot_reply(s)
