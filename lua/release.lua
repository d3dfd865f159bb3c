-- Lowers the hold count of a hold, or ends the hold and says so.
--
-- KEYS[1] lock:{name}       hash  hold id -> hold count
-- KEYS[2] lock:{name}:void  zset  voided hold id -> when the mark may go, microseconds
-- ARGV[1] hold id
-- ARGV[2] hold count left; 0 ends the hold
-- ARGV[3] channel to tell of the end; empty: nobody needs to know
-- ARGV[4] life of the mark that voids this hold id, milliseconds; 0: no mark
--
-- Returns 2   the hold is ended, and at most one listener to this server was told
-- Returns 1   the count is lowered, or the hold is ended
-- Returns 0   the hold was not there
--
-- Twice: the count is stated and never raised; the end deletes only this hold's
-- field, which a second run does not find, so it tells nobody.
-- Late: hold ids are never used again, so it cannot touch a later hold.

local found = 0
if ARGV[2] == '0' then
  found = redis.call('HDEL', KEYS[1], ARGV[1])
  if found == 1 and ARGV[3] ~= '' then
    -- A user without rights to the channel releases all the same; waiters poll.
    local told = redis.pcall('PUBLISH', ARGV[3], ARGV[1])
    if told == 0 or told == 1 then
      found = 2
    end
  end
else
  local count = redis.call('HGET', KEYS[1], ARGV[1])
  if count then
    found = 1
    if tonumber(ARGV[2]) < tonumber(count) then
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    end
  end
end
-- The mark comes last: a server without memory refuses it, and must not refuse
-- the release with it.
if ARGV[4] ~= '0' then
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[4] * 1000), ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return found
