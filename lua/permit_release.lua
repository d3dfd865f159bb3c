-- Ends a hold of permits, or its wait, and tells all whose turn it is then, but for the one that comes
-- right behind.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "last round" -> 0, a ticket
-- KEYS[5] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[6] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[7] lock:{name}:free     zset    free slot -> itself; the last one stands for all from it on
-- ARGV[1] hold id
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] 1: every listener of this deployment is connected to this server
-- ARGV[5] waiting hold id that asks right after this, and need not be woken; empty: none
--
-- Returns 1   the hold is ended
-- Returns 0   the hold was not there
--
-- Twice: it deletes only this hold's field, slots and place. A second run may wake others
-- again, who look and find nothing new.
-- Late: hold ids are never used again, so it cannot touch a later hold, nor give back a slot that another
-- has by now: which slots it gives back is what is known of this hold.

local found
if redis.call('EXISTS', KEYS[3], KEYS[4], KEYS[5], KEYS[7]) == 0 then
  -- Nobody waits, and no more than one has permits.
  found = redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[6], ARGV[1], ARGV[1] .. ' note')
else
  -- uses clock, place, queue, permits
  local now, slots = clock(), nil
  found, slots = vacate(KEYS[1], KEYS[5], KEYS[6], KEYS[7], ARGV[1])
  local waited = drop(KEYS[3], KEYS[4], ARGV[1])
  local state = look(KEYS[1], KEYS[5], KEYS[6], KEYS[7], now)
  -- Whoever fitted before has been told. Let in are those for whom there is room now.
  local change
  if found == 1 and waited == 0 and slots then
    change = {given = list(slots)}
  elseif found == 0 and waited == 1 then
    change = leaving(ARGV[1])
  end
  local _, empty = admit(KEYS[7], state, KEYS[3], KEYS[4], now, ARGV[2], ARGV[1], ARGV[4], ARGV[5], since(state, change))
  if empty and state.none then
    redis.call('PEXPIRE', KEYS[4], 0) -- nobody is left who may come back
  elseif empty then
    shorten(KEYS[1], KEYS[5], KEYS[6], KEYS[7], now)
  end
end
if ARGV[3] ~= '0' then
  -- uses void
  void(KEYS[2], ARGV[1], ARGV[3])
end
return found
