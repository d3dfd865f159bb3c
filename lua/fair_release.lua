-- Ends a hold or its wait, and the waits of those that were served within the hold, and wakes the next waiter,
-- unless that one is the successor, which asks by itself.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds
-- KEYS[5] lock:{name}:token    string  fencing counter; absent, as the one below, if not needed
-- KEYS[6] lock:{name}:note     string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] 1: every listener of this deployment is connected to this server
-- ARGV[5] waiting hold id that asks right after this, and need not be woken; empty: none
-- ARGV[6] 1: the hold never had a lease, so nobody was told its token
-- ARGV[7] 1: an earlier run may have ended the hold, or a part of one that told nobody
-- ARGV[8...] hold ids that waited and were served within the hold, none of which had a lease: no more than one
--            tenure serves (run.lua)
--
-- Returns 1   the hold is ended
-- Returns 0   the hold was not there
--
-- Twice: it deletes only the fields and places of these holds. A second run may wake the
-- head again, which looks and finds nothing new.
-- Late: hold ids are never used again, so it cannot touch a later hold.

-- uses place
local found = redis.call('HDEL', KEYS[1], ARGV[1])
local waited = drop(KEYS[3], KEYS[4], ARGV[1])
local granted = 0
if #ARGV > 7 then
  local fields = {}
  for i = 8, #ARGV do
    fields[2 * i - 15], fields[2 * i - 14] = ARGV[i], round(ARGV[i])
  end
  granted = redis.call('HDEL', KEYS[1], unpack(ARGV, 8)) -- where a minority had let one in
  waited = waited + redis.call('ZREM', KEYS[3], unpack(ARGV, 8))
  redis.call('HDEL', KEYS[4], unpack(fields))
end
if found == 1 and ARGV[6] == '1' or granted > 0 then
  -- uses unmint
  unmint(KEYS[5])
end
if KEYS[6] then
  -- uses unnote
  unnote(KEYS[6], ARGV[1])
end
-- The hash has one hold: without its field there is no lock.
if (found == 1 or granted > 0 or (waited > 0 or ARGV[7] == '1') and redis.call('EXISTS', KEYS[1]) == 0) and
    (ARGV[5] == '' or redis.call('ZRANGE', KEYS[3], 0, 0)[1] ~= ARGV[5]) then
  -- uses clock, queue
  wake(KEYS[3], KEYS[4], clock(), ARGV[2], ARGV[1], ARGV[4])
end
if ARGV[3] ~= '0' then
  -- uses void
  void(KEYS[2], ARGV[1], ARGV[3])
end
return found
