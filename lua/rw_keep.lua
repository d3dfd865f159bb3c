-- Keeps a read-write lock taken for a while after a reader or writer has gone, and has the next waiter look how
-- long.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count; "hold id lingers" -> 0
-- KEYS[2] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round and ticket of its grant;
--                                      "hold id floor" -> see rw.lua
-- KEYS[5] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds; absent, as those
--                                      below, if not needed
-- KEYS[6] lock:{name}:token    string  fencing counter
-- KEYS[7] lock:{name}:note     string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] how long the lock stays taken, milliseconds
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] prefix of the clients' channels
-- ARGV[5] 1: every listener of this deployment is connected to this server
-- ARGV[6] token of a hold that wrote; absent: of one that reads
--
-- Returns 1   the hold has ended, and the lock stays taken
-- Returns 0   the hold was not there
--
-- Twice: the second run finds what the first one left, and only brings the end nearer.
-- Late: hold ids are never used again, so it cannot touch a later hold. A late extension finds no hold
-- any more, and what would create one finds the mark.

-- uses clock, place, queue, rw, void
local now = clock()
sweep(KEYS[1], KEYS[2], now)
local lingers = ARGV[1] .. ' lingers'
local read = redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('ZSCORE', KEYS[2], lingers)
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HDEL', KEYS[1], '') -- a full server refuses a script whose first write needs memory
  redis.call('HSET', KEYS[1], lingers, '0') -- before the other goes, or the key would, with its TTL
  redis.call('HDEL', KEYS[1], ARGV[1])
  if ARGV[6] and not read then
    -- uses written
    written(KEYS[6], KEYS[4], ARGV[1], ARGV[6])
  end
  redis.call('HDEL', KEYS[4], round(ARGV[1]), floor(ARGV[1])) -- others keep the hash for as long as the name is in use
elseif redis.call('HEXISTS', KEYS[1], lingers) == 0 then
  void(KEYS[5], ARGV[1], ARGV[3])
  return 0
end
local before = redis.call('PTTL', KEYS[1])
if read then
  local until_then = math.min(tonumber(read), now + ARGV[2] * 1000)
  redis.call('ZADD', KEYS[2], micros(until_then), lingers)
  redis.call('ZREM', KEYS[2], ARGV[1])
  shorten(KEYS[1], KEYS[2], now)
elseif redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
if KEYS[7] then
  redis.call('PEXPIRE', KEYS[7], ARGV[2])
end
if redis.call('PTTL', KEYS[1]) < before then -- of which waiters know
  wake(KEYS[3], KEYS[4], now, ARGV[4], ARGV[1] .. ' kept', ARGV[5])
end
void(KEYS[5], ARGV[1], ARGV[3])
return 1
