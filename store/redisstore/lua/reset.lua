#!lua flags=allow-oom
-- Begins a new round: those who wait and those with an offer are ended, numbers go on, leases stay.
--
-- ARGV: 1-3 see prelude.lua; 4 id of the round.
-- Returns a standing.

local why = lost()
if why then return {'lost', why} end
if ARGV[4] == m.round then return reply() end

reset(ARGV[4])
save()
return reply()
