-- Writes down, for people, who has a lock; or takes that away.
--
-- KEYS[1] lock:{name}       hash    hold id -> hold count
-- KEYS[2] lock:{name}:note  string  "<hold id> <since, microseconds> <label, a line end, note>"
-- ARGV[1] hold id
-- ARGV[2] label, a line end, note; empty: what is written of this hold is taken away
-- ARGV[3] how long ago the hold began, milliseconds
-- ARGV[4] life of what is written, milliseconds
--
-- Returns 1   it is written, or taken away
-- Returns 0   the hold is not there, or what is written is not about it; nothing is changed
--
-- Twice: the second run writes the same once more.
-- Late: it writes only while the hold is there, and takes away only what is about this hold,
-- whose id is never used again.

if ARGV[2] == '' then
  local known = redis.call('GET', KEYS[2])
  if known and string.match(known, '^%S+') == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[2], 0)
  end
  return 0
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
-- uses clock
local since = string.format('%.0f', clock() - ARGV[3] * 1000)
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. since .. ' ' .. ARGV[2], 'PX', ARGV[4])
return 1
