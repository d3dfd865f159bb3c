-- Extends a hold of permits, and gives it back to a node that lacks it and vouches that nobody was
-- granted anything since.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds;
--                                      "hold id forced" beside it
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[6] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[8] lock:{name}:free     zset    free slot -> itself; the last one stands for all from it on
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] fencing token of the hold
-- ARGV[4] life of an idle fencing counter, milliseconds
-- ARGV[5] hold count
-- ARGV[6] slots of the hold
-- ARGV[7] prefix of the clients' channels
-- ARGV[8] 1: every listener of this deployment is connected to this server
-- ARGV[9] how long this server must have run to vouch, milliseconds
-- ARGV[10] how long a restarted server must not grant, milliseconds; absent, as the next one: no guard
-- ARGV[11] number of the request that a quorum granted; absent: the hold did not wait
--
-- Returns 2    the hold was not there, and is again
-- Returns 1    the hold is there with its slots and was extended
-- Returns 0    the hold is not there and its slots are free, and this node does not vouch
-- Returns -1   the hold is not there: another has one of its slots, or this hold id was voided
-- Returns -2   the hold is not there: it was ended by force
-- Error RESTARTED: as in restore.lua
--
-- Why a node can vouch: as in restore.lua, for whoever was granted one of the slots later has a greater
-- token. Others may have that have other slots; then nobody vouches.
--
-- Twice: a second run finds the field of the first, and no time is ever shortened.
-- Late: after the release, the mark in KEYS[3] refuses it; after another grant, the counter.

-- uses clock, place, queue, permits
local now = clock()
local state = look(KEYS[1], KEYS[6], KEYS[7], KEYS[8], now, ARGV[1])
follow(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[7], ARGV[1], ARGV[8])
local record, back = redis.call('HGET', KEYS[7], ARGV[1]), 1
if not state.count or not record or slotsOf(record) ~= ARGV[6] or not state.own and not redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  if redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  if state.closed or not state.none and not open(KEYS[7], KEYS[8], state.own, ARGV[1], ARGV[6]) or redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    return -1
  end
  -- uses guard
  local known = tonumber(redis.call('GET', KEYS[2]))
  if record or not known or known > tonumber(ARGV[3]) or guard(ARGV[9]) then
    return ARGV[10] and guard(ARGV[10]) or 0
  end
  back = 2
  hold(KEYS[1], KEYS[6], KEYS[7], KEYS[8], state, ARGV[1], ARGV[3], list(ARGV[6]), ARGV[5])
elseif ARGV[11] then
  -- uses former
  local young = former(KEYS[5], ARGV[1], ARGV[11], ARGV[10])
  if young then
    return young
  end
end
prolong(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1], now, ARGV[2], state.own)
-- uses extended
extend(KEYS[1], nil, KEYS[5], nil, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], state.count or ARGV[5])
count(KEYS[2], ARGV[3], now, ARGV[4])
return back
