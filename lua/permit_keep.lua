-- Lets the slots of a hold stay taken for a while when it has gone, and has the next waiter look how long.
--
-- KEYS[1] lock:{name}          hash  hold id -> hold count; "hold id lingers" -> 0
-- KEYS[2] lock:{name}:permits  zset  hold id, or "hold id lingers" -> alive until, microseconds
-- KEYS[3] lock:{name}:slots    hash  hold id, or "hold id lingers" -> token, slots; either and " note" -> since, label and note
-- KEYS[4] lock:{name}:free     zset  free slot -> itself; the last one stands for all from it on
-- KEYS[5] lock:{name}:queue    zset  waiting hold id -> ticket
-- KEYS[6] lock:{name}:waiters  hash  waiting hold id -> alive until, since, microseconds;
--                                    "hold id round" -> round and ticket of its grant
-- KEYS[7] lock:{name}:void     zset  voided hold id -> when the mark may go, microseconds; absent if not needed
-- ARGV[1] hold id
-- ARGV[2] how long the slots stay taken, milliseconds
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] prefix of the clients' channels
-- ARGV[5] 1: every listener of this deployment is connected to this server
--
-- Returns 1   the hold has ended, and its slots stay taken
-- Returns 0   the hold was not there
--
-- Twice: the second run finds what the first one left, and only brings the end nearer.
-- Late: hold ids are never used again, so it cannot touch a later hold. A late extension finds no hold
-- any more, and what would create one finds the mark.

-- uses clock, place, queue, permits, void
local now = clock()
local state = look(KEYS[1], KEYS[2], KEYS[3], KEYS[4], now)
follow(KEYS[4], state, KEYS[5], KEYS[6], now, ARGV[4], ARGV[1], ARGV[5])
local lingers = ARGV[1] .. ' lingers'
local ends = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('HGET', KEYS[3], ARGV[1])
if not ends and redis.call('HEXISTS', KEYS[1], lingers) == 0 then
  void(KEYS[7], ARGV[1], ARGV[3])
  return 0
end
redis.call('HDEL', KEYS[1], '') -- a full server refuses a script whose first write needs memory
spread(KEYS[1], KEYS[2], KEYS[3], KEYS[4], state)
local till = now + ARGV[2] * 1000
local before = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('ZSCORE', KEYS[2], lingers) or till)
if ends then
  redis.call('HSET', KEYS[1], lingers, '0') -- before the other goes, or the key would, with its TTL
  redis.call('HSET', KEYS[3], lingers, ends)
  local note = redis.call('HGET', KEYS[3], ARGV[1] .. ' note')
  if note then
    redis.call('HSET', KEYS[3], lingers .. ' note', note)
  end
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1], ARGV[1] .. ' note')
  redis.call('HDEL', KEYS[6], round(ARGV[1])) -- others keep the hash for as long as the name is in use
end
if not state.closed then -- or it would be taken for the only one, and the lost keys for whole
  redis.call('ZADD', KEYS[2], micros(math.min(before, till)), lingers)
end
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[5]) == 0 then -- who waits has to find what has ended, and to tell the others
  shorten(KEYS[1], KEYS[2], KEYS[3], KEYS[4], now)
end
if till < before then -- of which waiters know
  wake(KEYS[5], KEYS[6], now, ARGV[4], ARGV[1] .. ' kept', ARGV[5])
end
void(KEYS[7], ARGV[1], ARGV[3])
return 1
