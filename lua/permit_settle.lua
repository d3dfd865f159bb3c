-- Takes a hold that has permits of a quorum out of the queue of a node that has granted none.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count
-- KEYS[2] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[3] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds
-- KEYS[4] lock:{name}:permits  zset  hold id -> alive until, microseconds
-- KEYS[5] lock:{name}:slots    hash  hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[6] lock:{name}:free     zset  free slot -> itself; the last one stands for all from it on
-- ARGV[1] hold id
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] 1: every listener of this deployment is connected to this server
--
-- Returns 1   it waited here
-- Returns 0   it did not
--
-- Twice: a second run finds no place to delete.
-- Late: it deletes only this hold's place.

-- uses clock, place, queue, permits
local waited = drop(KEYS[2], KEYS[3], ARGV[1])
if waited == 1 then
  local now = clock()
  local state = look(KEYS[1], KEYS[4], KEYS[5], KEYS[6], now)
  admit(KEYS[6], state, KEYS[2], KEYS[3], now, ARGV[2], ARGV[1] .. ' settled', ARGV[3], '', since(state, leaving(ARGV[1])))
end
return waited
