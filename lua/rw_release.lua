-- Ends a hold that reads or writes, or its wait, and notifies the waiters whose turn it is then, except the
-- successor, which asks by itself.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id floor" -> see rw.lua
-- KEYS[5] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[6] lock:{name}:token    string  fencing counter; absent, as the one below, if not needed
-- KEYS[7] lock:{name}:note     string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] prefix of the clients' channels
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] 1: every listener of this deployment is connected to this server
-- ARGV[5] waiting hold id that asks right after this, and need not be woken; empty: none
-- ARGV[6] token of a hold that wrote; 0: nobody was told it, of a hold without a lease; absent: of one that
--         reads, or waits
--
-- Returns 1   the hold is ended
-- Returns 0   the hold was not there
--
-- Twice: it deletes only this hold's field and place. A second run may wake others
-- again, who look and find nothing new.
-- Late: hold ids are never used again, so it cannot touch a later hold.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[5], now)
local found = redis.call('HDEL', KEYS[1], ARGV[1])
local read = redis.call('ZREM', KEYS[5], ARGV[1])
local waited = drop(KEYS[3], KEYS[4], ARGV[1])
if found == 1 and read == 0 and ARGV[6] then
  if ARGV[6] == '0' then
    -- uses unmint
    unmint(KEYS[6])
  else
    -- uses written
    written(KEYS[6], KEYS[4], ARGV[1], ARGV[6])
  end
end
redis.call('HDEL', KEYS[4], floor(ARGV[1]))
if KEYS[7] then
  -- uses unnote
  unnote(KEYS[7], ARGV[1])
end
local before = read == 1 and redis.call('PTTL', KEYS[1])
if read == 1 then
  shorten(KEYS[1], KEYS[5], now)
end
-- One that stops reading frees nobody as long as others read; one that stops waiting to read frees
-- nobody but whoever is next for a lock that nobody has.
local last = redis.call('EXISTS', KEYS[1]) == 0
if last or waited == 1 and not reads(ARGV[1]) then
  admit(KEYS[1], KEYS[5], KEYS[3], KEYS[4], now, ARGV[2], ARGV[1], ARGV[4], ARGV[5])
elseif before and redis.call('PTTL', KEYS[1]) < before then
  -- What stays taken for a while ends without a word: whoever is first has to know when.
  local kept = string.match(redis.call('ZREVRANGE', KEYS[5], 0, 0)[1] or '', '^(.*) lingers$')
  if kept then
    wake(KEYS[3], KEYS[4], now, ARGV[2], kept .. ' kept', ARGV[4])
  end
end
if ARGV[3] ~= '0' then
  -- uses void
  void(KEYS[2], ARGV[1], ARGV[3])
end
return found
