-- Takes a free lock for a hold.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
-- KEYS[3] lock:{name}:void   zset    voided hold id -> when the mark may go, microseconds; "deaf" and
--                                    "far ...", see reserve.lua
-- KEYS[4] lock:{name}:note   string  label and note of the hold, for people; only if wanted
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns > 0   granted: the fencing token
-- Returns {token, deaf, mark...}   the same; deaf is 1 if somebody waits who does not listen, else 0; and the
--   marks of at most 16 processes that are farther away than others
-- Returns -1    refused: this hold id was voided
-- Returns {pttl, hold id, hold count, text, age}   held by another: its remaining TTL in
--   milliseconds; what is written about it and its age in milliseconds, if that is wanted and there
--
-- Twice: a second run finds its own field and returns the token of the first, without marks; the
-- TTL is never shortened.
-- Late: after the release, the mark in KEYS[3] refuses it.

-- The common case is that no key exists, and one call shows that.
local marked = redis.call('EXISTS', KEYS[1], KEYS[3]) > 0
if marked then
  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
    if ARGV[4] then
      -- A server that has restarted may have the hold from a snapshot alone: others may have had the lock since.
      -- uses guard
      local young = guard(ARGV[4])
      if young then
        return young
      end
    end
    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end
    -- The counter may have been evicted; the next extension writes it again.
    -- uses clock
    return tonumber(redis.call('GET', KEYS[2])) or clock()
  end
  if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    return -1
  end
  local held = redis.call('HGETALL', KEYS[1])
  if held[1] then
    if KEYS[4] then
      -- uses noted
      return {redis.call('PTTL', KEYS[1]), held[1], held[2], noted(KEYS[4], held[1])}
    end
    return {redis.call('PTTL', KEYS[1]), held[1], held[2]}
  end
end
local least = 0
if ARGV[4] then
  -- uses guard
  local young
  young, least = guard(ARGV[4])
  if young then
    return young
  end
end

-- uses token
redis.call('HSET', KEYS[1], ARGV[1], '1')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local token, problem = mint(KEYS[2], least, ARGV[3])
if problem then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return problem
end
if marked then
  -- uses marks
  return withMarks(token, KEYS[3])
end
return token
