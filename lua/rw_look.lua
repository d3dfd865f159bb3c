-- Tells readers whether others may join them without asking.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count
-- KEYS[2] lock:{name}:void     zset  "hold id forced" -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds
-- KEYS[5] lock:{name}:readers  zset  reading hold id -> alive until, microseconds
-- ARGV[1] hold id that reads
--
-- Returns 1    it does, and nobody waits to write
-- Returns 0    it does, and somebody waits to write
-- Returns -1   it does not
-- Returns -2   it does not: it was ended by force
--
-- Twice: it changes nothing except that it drops dead waiters.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[5], now)
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or not redis.call('ZSCORE', KEYS[5], ARGV[1]) then
  return redis.call('ZSCORE', KEYS[2], ARGV[1] .. ' forced') and -2 or -1
end
return barrier(KEYS[3], KEYS[4], now, '', true) and 0 or 1
