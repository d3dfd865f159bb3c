-- Takes a hold that a quorum has granted out of the queue of a node that has not.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count
-- KEYS[2] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[3] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds
-- ARGV[1] hold id
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] 1: every listener of this deployment is connected to this server
--
-- Returns 1   it waited here
-- Returns 0   it did not
--
-- Twice: a second run finds no place to delete.
-- Late: it deletes only this hold's place.

-- uses place
local waited = drop(KEYS[2], KEYS[3], ARGV[1])
if waited == 1 and redis.call('EXISTS', KEYS[1]) == 0 then
  -- uses clock, queue
  wake(KEYS[2], KEYS[3], clock(), ARGV[2], ARGV[1] .. ' settled', ARGV[3])
end
return waited
