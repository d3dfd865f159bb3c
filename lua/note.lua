-- Writes who has a lock, for people.
--
-- KEYS[1] lock:{name}       hash    hold id -> hold count
-- KEYS[2] lock:{name}:note  string  "<hold id> <since, microseconds> <label, a line end, note>"
-- ARGV[1] hold id
-- ARGV[2] label, a line end, note
-- ARGV[3] how long ago the hold began, milliseconds
-- ARGV[4] life of the text, milliseconds
--
-- Returns 1   the text was written
-- Returns 0   the hold is not there, nothing was written
--
-- Twice: the second run writes the same once more.
-- Late: it writes only while the hold is there, whose id is never used again. The release deletes
-- the text.

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
-- uses clock
local since = string.format('%.0f', clock() - ARGV[3] * 1000)
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. since .. ' ' .. ARGV[2], 'PX', ARGV[4])
return 1
