-- Extends a hold that reads or writes, and gives one that reads back to a node that lacks it and vouches
-- that nobody has written since.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds;
--                                      "hold id forced" beside it
-- KEYS[4] lock:{name}:waiters  hash    "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[5] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] fencing token of the hold
-- ARGV[4] life of an idle fencing counter, milliseconds
-- ARGV[5] hold count
-- ARGV[6] 1: the hold reads; 0: it writes
-- ARGV[7] how long this server must have run to vouch, milliseconds
-- ARGV[8] how long a restarted server must not grant, milliseconds; absent, as the next one: no guard
-- ARGV[9] number of the request that a quorum granted; absent: the hold did not wait
--
-- Returns 2    the hold was not there, and is again
-- Returns 1    the hold is there and was extended
-- Returns 0    the hold is not there and nobody is in its way, and this node does not vouch
-- Returns -1   the hold is not there: another that is in its way has the lock, or this hold id was voided
-- Returns -2   the hold is not there: it was ended by force
-- Error RESTARTED: as in restore.lua
--
-- Why a node can vouch: as in restore.lua, because a later writer has a greater token. A reader has not,
-- so nobody vouches for a writer: others may have read since, and have finished.
--
-- Twice: a second run finds the field of the first, and no time is ever shortened.
-- Late: after the release, the mark in KEYS[3] refuses it; after another has written, the counter. It turns no hold
-- that writes here into one that reads: the next extension does, and tells those who can read then.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[5], now)
local count, back = redis.call('HGET', KEYS[1], ARGV[1]), 1
if not count then
  if redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  local alone, free = taken(KEYS[1], KEYS[5])
  if alone or not free and ARGV[6] == '0' or redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    return -1
  end
  -- uses guard
  local known = tonumber(redis.call('GET', KEYS[2]))
  if ARGV[6] == '0' or not known or known > tonumber(ARGV[3]) or guard(ARGV[7]) then
    return ARGV[8] and guard(ARGV[8]) or 0
  end
  back = 2
  if free then
    redis.call('PEXPIRE', KEYS[5], 0) -- what is left of no hold
  end
  redis.call('ZADD', KEYS[5], micros(now + ARGV[2] * 1000), ARGV[1])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
elseif ARGV[9] then
  -- uses former
  local young = former(KEYS[4], ARGV[1], ARGV[9], ARGV[8])
  if young then
    return young
  end
end
if redis.call('ZSCORE', KEYS[5], ARGV[1]) then
  prolong(KEYS[1], KEYS[5], ARGV[1], now, ARGV[2])
end
-- uses extended
extend(KEYS[1], KEYS[2], KEYS[4], nil, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], count or ARGV[5])
return back
