-- Writes down, for people, who has permits.
--
-- KEYS[1] lock:{name}        hash  hold id -> hold count
-- KEYS[2] lock:{name}:slots  hash  hold id -> token, slots; "hold id note" -> "<since, microseconds> <label, a line end, note>"
-- ARGV[1] hold id
-- ARGV[2] label, a line end, note
-- ARGV[3] how long ago the hold began, milliseconds
--
-- Returns 1   the text was written
-- Returns 0   the hold is not there, nothing was written
--
-- Twice: the second run writes the same once more.
-- Late: it writes only while the hold is there, whose id is never used again. The release deletes
-- the text.

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then
  return 0
end
-- uses clock
redis.call('HSET', KEYS[2], ARGV[1] .. ' note', string.format('%.0f ', clock() - ARGV[3] * 1000) .. ARGV[2])
return 1
