-- Keeps a lock taken for a while after its holder has gone, and has the next waiter look how long.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count; "hold id lingers" -> 0
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds; absent, as those
--                                      below, if not needed
-- KEYS[3] lock:{name}:note     string  label and note of the hold, if any
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round and ticket of its grant
-- ARGV[1] hold id
-- ARGV[2] how long the lock stays taken, milliseconds
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0: no mark
-- ARGV[4] prefix of the clients' channels; without ARGV[5], what follows KEYS[1] in the name of the channel
-- ARGV[5] 1: every listener of this deployment is connected to this server; absent: of a lock without a queue
--
-- Returns 1   the hold has ended, and the lock stays taken
-- Returns 0   the hold was not there
--
-- Twice: the second run finds what the first one left, and only brings the end nearer.
-- Late: hold ids are never used again, so it cannot touch a later hold. A late extension finds no hold
-- any more, and what would create one finds the mark.

-- uses void
local lingers = ARGV[1] .. ' lingers'
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HDEL', KEYS[1], '') -- a full server refuses a script whose first write needs memory
  redis.call('HSET', KEYS[1], lingers, '0') -- before the other goes, or the key would, with its TTL
  redis.call('HDEL', KEYS[1], ARGV[1])
  if KEYS[5] then
    -- uses place
    redis.call('HDEL', KEYS[5], round(ARGV[1])) -- others keep the hash for as long as the name is in use
  end
elseif redis.call('HEXISTS', KEYS[1], lingers) == 0 then
  void(KEYS[2], ARGV[1], ARGV[3])
  return 0
end
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if KEYS[3] then
    redis.call('PEXPIRE', KEYS[3], ARGV[2])
  end
  -- Waiters know when the lock would have been free before.
  local about = ARGV[1] .. ' kept'
  if ARGV[5] then
    -- uses clock, place, queue
    wake(KEYS[4], KEYS[5], clock(), ARGV[4], about, ARGV[5])
  else
    redis.pcall('PUBLISH', KEYS[1] .. ARGV[4], about)
  end
end
void(KEYS[2], ARGV[1], ARGV[3])
return 1
