-- Makes a hold of permits that is there with its slots live longer, and states its count.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    "hold id forced" -> when the mark may go, microseconds
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
-- ARGV[9] number of the request that a quorum granted; absent, as the next one: there is no guard, or
--   the hold did not wait
-- ARGV[10] how long a restarted server must not grant, milliseconds
--
-- Returns 1    extended
-- Returns 0    the hold is not there with these slots, and they are free
-- Returns -1   the hold is not there with these slots, and another has one of them
-- Returns -2   the hold is not there: it was ended by force
--
-- Twice: the time of a hold is never shortened, so a late and shorter one changes nothing. A late
-- one may set an old count, which Inspect shows until the next one.
-- Late: without its field it writes nothing of the hold, so it cannot revive a hold or help another.

-- uses clock, place, queue, permits
local now = clock()
local state = look(KEYS[1], KEYS[6], KEYS[7], KEYS[8], now, ARGV[1])
follow(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[7], ARGV[1], ARGV[8])
local record = state.count and redis.call('HGET', KEYS[7], ARGV[1])
if not record or slotsOf(record) ~= ARGV[6] or not state.own and not redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  if redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') then
    return -2
  end
  return (state.closed or not state.none and not open(KEYS[7], KEYS[8], state.own, ARGV[1], ARGV[6])) and -1 or 0
end
if ARGV[9] then
  -- uses former
  local young = former(KEYS[5], ARGV[1], ARGV[9], ARGV[10])
  if young then
    return young
  end
end
-- First what needs no memory: a full server refuses a script at the first command that does.
-- uses extended
extend(KEYS[1], nil, KEYS[5], nil, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], state.count)
count(KEYS[2], ARGV[3], now, ARGV[4])
prolong(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1], now, ARGV[2], state.own)
return 1
