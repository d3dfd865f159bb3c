-- Raises the fencing counter to the token that a quorum granted to a hold.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:waiters  hash    "hold id round" -> round in which it was granted,
--                                      ticket; of a fair lock only
-- ARGV[1] hold id
-- ARGV[2] fencing token of the hold
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] number of the request that a quorum granted; of a fair lock only
-- ARGV[5] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   the counter is at least the token
-- Returns 0   the hold is not there, nothing was written
--
-- Twice: the greater of two numbers is the same the second time, and so is a
-- round.
-- Late: it writes only while the hold still has the key. Without that condition a
-- later hold could already have been granted the same number here (design: tokens).

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
-- A yield of an earlier round may still come, and would take this token back.
if KEYS[3] then
  -- uses place
  if ARGV[5] then
    -- uses former
    local young = former(KEYS[3], ARGV[1], ARGV[4], ARGV[5])
    if young then
      return young
    end
  end
  local last, ticket = granted(KEYS[3], ARGV[1])
  if last and last < tonumber(ARGV[4]) then
    grant(KEYS[3], ARGV[1], ARGV[4], ticket)
  end
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
return 1
