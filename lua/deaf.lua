-- Has the process that holds the lock know that somebody waits who cannot hear of its end.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:void   zset    "deaf" -> until when somebody waits, microseconds
-- ARGV[1] life of the mark, milliseconds
--
-- Returns 1   marked
-- Returns 0   nobody holds the lock, nothing was written
--
-- Twice: the second mark is the first one, and may go a little later.
-- Late: the mark goes by itself, and costs whoever holds the lock then no more than a pause.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
-- uses clock
redis.call('ZADD', KEYS[2], 'GT', string.format('%.0f', clock() + ARGV[1] * 1000), 'deaf')
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return 1
