-- Shows that waiters for permits are alive, and notifies those whose turn it is.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count
-- KEYS[2] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[3] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds
-- KEYS[4] lock:{name}:permits  zset  hold id -> alive until, microseconds
-- KEYS[5] lock:{name}:slots    hash  hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[6] lock:{name}:free     zset  free slot -> itself; the last one stands for all from it on
-- ARGV[1] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] 1: every listener of this deployment is connected to this server
-- ARGV[4] name of this beat, the same on every node
-- ARGV[5...] hold ids of waiters
--
-- Returns {hold id, ..., 0, hold id}   those of them that should ask: they do not wait here, it is their turn, or
--   before them are too many dead ones to be dropped at once. So permits that can be had are noticed
--   even where no message arrives. Behind a 0, the one of them that is first in the queue, if one is and
--   does not have to ask
--
-- Twice: it sets until when waiters are alive; waiters whose turn it is look once more.
-- Late: it creates no place, so it brings back no waiter that has left.

-- uses clock, place, queue, signs, permits
local now = clock()
local due, mine = live(KEYS[2], KEYS[3], {unpack(ARGV, 5)}, now, ARGV[1])
forget(KEYS[1], KEYS[3], '')
local state = look(KEYS[1], KEYS[4], KEYS[5], KEYS[6], now)
local others, stuck = false, false
if not state.closed then
  local fit, _, first, sure = ahead(KEYS[2], KEYS[3], ranking(KEYS[6], state.own), now, '')
  stuck = not fit[1] and not (first and sure)
  if not fit[1] and state.none and first then
    fit = {first}
  end
  for i = 1, #fit do
    if mine[fit[i]] then
      due[#due + 1] = fit[i]
    else
      others = true
    end
  end
end
if (others or stuck) and not admit(KEYS[6], state, KEYS[2], KEYS[3], now, ARGV[2], ARGV[4], ARGV[3], '') then
  due[#due + 1] = ARGV[#ARGV] -- who asks goes on with it
end
return answer(KEYS[2], due, mine)
