-- Raises the fencing counter for the holds that will follow one another within a tenure that writes, and tells
-- whether others wait for its end.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    "hold id forced" -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id floor" -> see rw.lua
-- KEYS[6] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- ARGV[1] hold id of the tenure
-- ARGV[2] last token of the reserve
-- ARGV[3] life of an idle fencing counter, milliseconds
--
-- Returns 1    the counter is at least that token, and nobody of another client waits
-- Returns 0    the counter is at least that token, and somebody of another client waits
-- Returns -1   the hold is not there, nothing was written
-- Returns -2   the same: it was ended by force
-- Returns -3   the hold reads by now, nothing was written
--
-- Twice: the greater of two numbers is the same the second time.
-- Late: it writes only while the hold still has the key alone. Without that condition a later hold could
-- already have been granted one of these numbers here, or one that reads, a token that nobody wrote with.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[6], now)
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') and -2 or -1
end
if redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  return -3
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[2]) then
  if redis.call('HEXISTS', KEYS[5], floor(ARGV[1])) == 0 then
    redis.call('HSET', KEYS[5], floor(ARGV[1]), token or '0')
  end
  outlive(KEYS[5], redis.call('PTTL', KEYS[1]))
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
return stranger(KEYS[4], KEYS[5], now, ARGV[1]) and 0 or 1
