-- Shows that waiters are alive, and wakes the head if the lock is free.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count
-- KEYS[2] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[3] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds
-- ARGV[1] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] 1: every listener of this deployment is connected to this server
-- ARGV[4] name of this beat, the same on every node
-- ARGV[5...] hold ids of waiters
--
-- Returns {hold id, ..., 0, hold id}   those of them that should ask: they do not wait here, it is the
--   turn of one of them, or before them are too many dead ones to be dropped at once. So a
--   free lock is noticed even where no message arrives. Behind a 0, the one of them that is first
--   in the queue, if one is and does not have to ask
--
-- Twice: it sets until when waiters are alive; the head looks once more.
-- Late: it creates no place, so it brings back no waiter that has left.

-- uses clock, place, queue, signs
local now = clock()
local due, mine = live(KEYS[2], KEYS[3], {unpack(ARGV, 5)}, now, ARGV[1])
forget(KEYS[1], KEYS[3], '')
if redis.call('EXISTS', KEYS[1]) == 0 then
  local first = head(KEYS[2], KEYS[3], now)
  if first and mine[first] then
    due[#due + 1] = first
    return due
  end
  if not wake(KEYS[2], KEYS[3], now, ARGV[2], ARGV[4], ARGV[3]) then
    due[#due + 1] = ARGV[#ARGV] -- who asks goes on with it
  end
end
return answer(KEYS[2], due, mine)
