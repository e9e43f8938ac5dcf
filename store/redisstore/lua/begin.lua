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

for name, key in pairs(K) do
  if name ~= 'meta' then redis.call('DEL', key) end
end
run = run or ARGV[5]
put('run', run)
put('round', ARGV[4])
for i, name in ipairs(RULES) do
  put('file.' .. name, ARGV[5 + i])
  put(name, name == 'mode' and ARGV[5 + i] or arg(5 + i))
end
for _, name in ipairs({'seq', 'tail', 'base', 'admitted', 'waiting', 'log_floor', 'log_mark'}) do put(name, 0) end
for _, name in ipairs({'near_at', 'far_at', 'kept_at', 'log_mark_at', 'filled_at', 'based_at',
  'synced_at'}) do put(name, now) end
put('allowance', math.max(PER_OFFER, m.admit_rate * 1000))
save()
return reply()
