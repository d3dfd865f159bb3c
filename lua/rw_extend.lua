-- Extends a hold that is there, and sets its count; or turns a hold that writes into one that reads, and
-- notifies the waiters that can read now.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    "hold id forced" -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[6] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:note     string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] fencing token of the hold
-- ARGV[4] life of an idle fencing counter, milliseconds
-- ARGV[5] hold count
-- ARGV[6] 1: the hold reads; 0: it writes
-- ARGV[7] prefix of the clients' channels
-- ARGV[8] 1: every listener of this deployment is connected to this server
-- ARGV[9] number of the request that a quorum granted; absent, as the next one: there is no guard, or
--   the hold did not wait
-- ARGV[10] how long a restarted server must not grant, milliseconds
--
-- Returns 1    extended
-- Returns 0    the hold is not there, and nobody is in its way
-- Returns -1   the hold is not there, and another that is in its way has the lock
-- Returns -2   the hold is not there: it was ended by force
--
-- Twice: the time of a hold is never shortened, so a late and shorter one changes nothing. A late
-- one may set an old count, which Inspect shows until the next one.
-- Late: without its field it writes nothing, so it cannot revive a hold or help another; and it
-- does not turn a hold that reads by now into a writer again.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[6], now)
local count = redis.call('HGET', KEYS[1], ARGV[1])
if not count then
  if redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  local alone, free = taken(KEYS[1], KEYS[6])
  return (alone or not free and ARGV[6] == '0') and -1 or 0
end
if ARGV[9] then
  -- uses former
  local young = former(KEYS[5], ARGV[1], ARGV[9], ARGV[10])
  if young then
    return young
  end
end
local read = redis.call('ZSCORE', KEYS[6], ARGV[1])
-- First what needs no memory: a full server refuses a script at the first command that does.
-- uses extended
extend(KEYS[1], KEYS[2], KEYS[5], KEYS[7], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], count)
if not read and redis.call('HEXISTS', KEYS[5], floor(ARGV[1])) == 1 then
  outlive(KEYS[5], ARGV[2])
end
if read then
  prolong(KEYS[1], KEYS[6], ARGV[1], now, ARGV[2])
elseif ARGV[6] == '1' then
  prolong(KEYS[1], KEYS[6], ARGV[1], now, redis.call('PTTL', KEYS[1])) -- as long as it was to write
  -- uses written
  written(KEYS[2], KEYS[5], ARGV[1], ARGV[3])
  redis.call('HDEL', KEYS[5], floor(ARGV[1]))
  admit(KEYS[1], KEYS[6], KEYS[4], KEYS[5], now, ARGV[7], ARGV[1] .. ' reads', ARGV[8], '')
end
return 1
