#!lua flags=allow-oom
-- Begins a round unless one is under way.
--
-- ARGV: 1-3 see prelude.lua (not looked at); 4 id of the round; 5 an incarnation, for where INFO may not be asked;
-- 6-20 the rules, in the order of RULES.
-- Returns a standing: of the round that stands, or of the one begun.

for i, name in ipairs(RULES) do
  if name ~= 'mode' then arg(5 + i) end
end

if m.round then
  if m.run ~= run then return {'lost', 'the server has started anew'} end
  return reply()
end

found(ARGV[4], ARGV[5], 6)
save()
return reply()
