-- Gives a node that lost a hold of permits, never had it, or gave it other slots, that hold with its slots if
-- these are free there; if not, takes the others away.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds
-- KEYS[6] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[8] lock:{name}:free     zset    free slot -> itself; the last one stands for all from it on
-- ARGV[1] hold id
-- ARGV[2] hold count
-- ARGV[3] TTL, milliseconds
-- ARGV[4] fencing token of the hold
-- ARGV[5] life of an idle fencing counter, milliseconds
-- ARGV[6] slots of the hold
-- ARGV[7] prefix of the clients' channels
-- ARGV[8] 1: every listener of this deployment is connected to this server
-- ARGV[9] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   the hold is there, with its slots
-- Returns 0   refused: another has one of them, or has the lock, or this hold id was voided
--
-- Twice: a second run finds its own field with its slots and writes nothing.
-- Late: after the release, the mark in KEYS[3] refuses it. The slots of a hold that a quorum has
-- granted never change, so it is right about them whenever it comes.

-- uses clock, place, queue, permits
local now = clock()
local state = look(KEYS[1], KEYS[6], KEYS[7], KEYS[8], now, ARGV[1])
follow(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[7], ARGV[1], ARGV[8])
local record = redis.call('HGET', KEYS[7], ARGV[1])
if record and state.count and (state.own or redis.call('ZSCORE', KEYS[6], ARGV[1])) then
  if slotsOf(record) == ARGV[6] then
    return 1
  end
  -- What it has here is no slot of its own, and keeps others from it.
  vacate(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1])
  state = look(KEYS[1], KEYS[6], KEYS[7], KEYS[8], now)
end
local mine = list(ARGV[6])
local refused = state.closed or not state.none and not vacant(KEYS[8], mine, state.own) or redis.call('ZSCORE', KEYS[3], ARGV[1])
local young, moves
if not refused and ARGV[9] then
  -- With the hold, the node votes in its renewals. If it is refused, the next renewal tries again.
  -- uses guard
  young = guard(ARGV[9])
end
if not refused and not young then
  local known = tonumber(redis.call('GET', KEYS[2]))
  if known and known < tonumber(ARGV[4]) then
    redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
  else
    count(KEYS[2], ARGV[4], now, ARGV[5])
  end
  moves = drop(KEYS[4], KEYS[5], ARGV[1]) == 1
  hold(KEYS[1], KEYS[6], KEYS[7], KEYS[8], state, ARGV[1], ARGV[4], mine, ARGV[2])
  prolong(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1], now, ARGV[3])
end
if (record or moves) and redis.call('EXISTS', KEYS[4]) == 1 then
  admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[7], ARGV[1] .. ' repaired', ARGV[8], '', not record and since(state, leaving(ARGV[1])) or nil)
end
return young or refused and 0 or 1
