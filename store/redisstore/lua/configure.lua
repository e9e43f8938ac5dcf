#!lua flags=allow-oom
-- Takes over the values of the configuration file, each only where it differs from the one stored before, so that what
-- was changed at run time stays.
--
-- ARGV: 1-3 see prelude.lua; 4-18 the rules, in the order of RULES.
-- Returns a standing.

for i, name in ipairs(RULES) do
  if name ~= 'mode' then arg(3 + i) end
end
local why = lost()
if why then return {'lost', why} end

for i, name in ipairs(RULES) do
  local value = ARGV[3 + i]
  if m['file.' .. name] ~= value then
    put('file.' .. name, value)
    put(name, value)
  end
end
save()
return reply()
