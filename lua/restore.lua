-- Extends a hold, and gives it back to a node that lacks it and vouches that nobody else has
-- been granted the lock since.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds;
--                                      "hold id forced" beside it
-- KEYS[4] lock:{name}:waiters  hash    "hold id round" -> round in which it was granted,
--                                      ticket; of a fair lock only
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] fencing token of the hold
-- ARGV[4] life of an idle fencing counter, milliseconds
-- ARGV[5] hold count
-- ARGV[6] how long this server must have run to vouch, milliseconds
-- ARGV[7] how long a restarted server must not grant, milliseconds; absent, as the next one: no guard
-- ARGV[8] number of the request that a quorum granted; absent: the hold did not wait
--
-- Returns 2    the hold was not there, and is again
-- Returns 1    the hold is there and was extended
-- Returns 0    the hold is not there and the lock is free, and this node does not vouch
-- Returns -1   the hold is not there: another holds the lock, or this hold id was voided
-- Returns -2   the hold is not there: it was ended by force
-- Error RESTARTED: the hold is not there, and nobody is granted the lock here for a while, so that this says nothing
--   about whether the hold is lost; or what is there may be a grant of an earlier request
--
-- Why a node can vouch: a later holder has a greater token, which a quorum of nodes knew while it
-- had the lock on them. A node that never saw a greater token was not one of them, unless it has
-- forgotten it: it lost its counter, or it has restarted since. Then it knows nothing, and says so.
--
-- Twice: a second run finds the field of the first, and the TTL is never shortened.
-- Late: after the release, the mark in KEYS[3] refuses it; after another was granted the lock,
-- the counter.

local count, back = redis.call('HGET', KEYS[1], ARGV[1]), 1
if not count then
  if redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    return -1
  end
  -- uses guard
  local known = tonumber(redis.call('GET', KEYS[2]))
  if not known or known > tonumber(ARGV[3]) or guard(ARGV[6]) then
    return ARGV[7] and guard(ARGV[7]) or 0
  end
  back = 2
elseif ARGV[8] then
  -- uses place, former
  local young = former(KEYS[4], ARGV[1], ARGV[8], ARGV[7])
  if young then
    return young
  end
end
-- uses extended
extend(KEYS[1], KEYS[2], KEYS[4], nil, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], count)
return back
