-- Tells who holds a lock. Reads only.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
--
-- Returns {pttl, token, hold id, hold count}   held: remaining TTL in milliseconds,
--   -1 if it has none; the token is the empty string where there is no counter
-- Returns {-2, token}                          free
--
-- Twice: it reads only.

local held = redis.call('HGETALL', KEYS[1])
return {
  redis.call('PTTL', KEYS[1]),
  redis.call('GET', KEYS[2]) or '',
  held[1],
  held[2],
}
