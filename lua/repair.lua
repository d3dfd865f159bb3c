-- Gives a node that lost a hold, or never had it, that hold again if the lock is free there.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
-- KEYS[3] lock:{name}:void   zset    voided hold id -> when the mark may go, microseconds
-- ARGV[1] hold id
-- ARGV[2] hold count
-- ARGV[3] TTL, milliseconds
-- ARGV[4] fencing token of the hold
-- ARGV[5] life of an idle fencing counter, milliseconds
-- ARGV[6] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   the hold is there
-- Returns 0   refused: another holds the lock, or this hold id was voided
--
-- Twice: a second run finds its own field and writes nothing.
-- Late: after the release, the mark in KEYS[3] refuses it.

if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis.call('HEXISTS', KEYS[1], ARGV[1])
end
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return 0
end
-- With the hold, the node votes in its renewals. If it is refused, the next renewal tries again.
if ARGV[6] then
  -- uses guard
  local young = guard(ARGV[6])
  if young then
    return young
  end
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[4]) then
  token = ARGV[4]
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[2], token, 'PX', ARGV[5])
return 1
