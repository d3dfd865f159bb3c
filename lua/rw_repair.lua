-- Gives a node that lost a hold that reads or writes, or never had it, that hold again if nobody is in
-- its way there.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[5] lock:{name}:waiters  hash    "hold id floor" -> see rw.lua
-- ARGV[1] hold id
-- ARGV[2] hold count
-- ARGV[3] TTL, milliseconds
-- ARGV[4] fencing token of the hold
-- ARGV[5] life of an idle fencing counter, milliseconds
-- ARGV[6] 1: the hold reads; 0: it writes
-- ARGV[7] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   the hold is there
-- Returns 0   refused: another is in its way, or this hold id was voided
--
-- Twice: a second run finds its own field and writes nothing.
-- Late: after the release, the mark in KEYS[3] refuses it. If the hold wrote then and reads by now,
-- it keeps others from reading on this node until the next extension.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[4], now)
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 1
end
local alone, free = taken(KEYS[1], KEYS[4])
if alone or not free and ARGV[6] == '0' or redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return 0
end
-- With the hold, the node votes in its renewals. If it is refused, the next renewal tries again.
if ARGV[7] then
  -- uses guard
  local young = guard(ARGV[7])
  if young then
    return young
  end
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[4]) then
  token = ARGV[4]
end
if free then
  redis.call('PEXPIRE', KEYS[4], 0) -- what is left of no hold
end
redis.call('HDEL', KEYS[5], floor(ARGV[1])) -- others may have had the lock here since
if ARGV[6] == '1' then
  redis.call('ZADD', KEYS[4], micros(now + ARGV[3] * 1000), ARGV[1])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  prolong(KEYS[1], KEYS[4], ARGV[1], now, ARGV[3])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
redis.call('SET', KEYS[2], token, 'PX', ARGV[5])
return 1
