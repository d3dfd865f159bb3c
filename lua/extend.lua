-- Extends a hold that is there, and sets its count.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter; absent, as those below: a Cluster moves them
-- KEYS[3] lock:{name}:void     zset    "hold id forced" -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:waiters  hash    "hold id round" -> round in which it was granted,
--                                      ticket; of a fair lock, or with KEYS[5], only
-- KEYS[5] lock:{name}:note     string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] fencing token of the hold
-- ARGV[4] life of an idle fencing counter, milliseconds
-- ARGV[5] hold count
-- ARGV[6] number of the request that a quorum granted; absent, as the next one: there is no guard, or
--   the hold did not wait
-- ARGV[7] how long a restarted server must not grant, milliseconds
--
-- Returns 1    extended
-- Returns 0    the hold is not there and the lock is free
-- Returns -1   the hold is not there and another holds the lock
-- Returns -2   the hold is not there: it was ended by force
--
-- Twice: the TTL is never shortened, so a late and shorter one changes nothing. A late
-- one may set an old count, which Inspect shows until the next one.
-- Late: without its field it writes nothing, so it cannot revive a hold or help another.

local count = redis.call('HGET', KEYS[1], ARGV[1])
if not count then
  if KEYS[3] and redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  return -redis.call('EXISTS', KEYS[1])
end
if ARGV[6] then
  -- uses place, former
  local young = former(KEYS[4], ARGV[1], ARGV[6], ARGV[7])
  if young then
    return young
  end
end
-- uses extended
extend(KEYS[1], KEYS[2], KEYS[4], KEYS[5], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], count)
return 1
