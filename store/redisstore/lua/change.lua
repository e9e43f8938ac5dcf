#!lua flags=allow-oom
-- Sets effective values of the rules.
--
-- ARGV: 1-3 see prelude.lua; 4 mode, 5 capacity, 6 admit_rate; '' keeps one.
-- Returns a standing.

for i = 5, 6 do
  if ARGV[i] ~= '' then arg(i) end
end
local why = lost()
if why then return {'lost', why} end

for i, name in ipairs({'mode', 'capacity', 'admit_rate'}) do
  if ARGV[3 + i] ~= '' then put(name, ARGV[3 + i]) end
end
save()
return reply()
