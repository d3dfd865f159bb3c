-- Raises the fencing counter to the token that a quorum granted to a hold.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
-- ARGV[1] hold id
-- ARGV[2] fencing token of the hold
-- ARGV[3] life of an idle fencing counter, milliseconds
--
-- Returns 1   the counter is at least the token
-- Returns 0   the hold is not there, nothing was written
--
-- Twice: the greater of two numbers is the same the second time.
-- Late: it writes only while the hold still has the key. Without that condition a
-- later hold could already have been granted the same number here (design: tokens).

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
return 1
