-- Takes a free lock for the hold whose turn it is, or queues a hold that has to wait.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[6] lock:{name}:note     string  label and note of the hold, for people; only if wanted
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] ticket to wait with; 0: a new one; empty: do not wait
-- ARGV[5] 1: the ticket is final
-- ARGV[6] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[7] number of this request of the hold, which a yield may take back; 0: none
-- ARGV[8] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns > 0   granted: the fencing token
-- Returns {token, ticket}   the same, and every waiter with a lower ticket is of the hold's client
-- Returns -1    refused: this hold id was voided
-- Returns {left, hold id, hold count, ticket, head, text, age}   not granted: who has the lock,
--   with its remaining TTL in milliseconds, empty if nobody; the ticket this hold waits with,
--   0 if it does not; who is first in the queue, empty if nobody; what is written about who has
--   the lock, and its age in milliseconds, if that is wanted and there. If nobody has the lock
--   and the head seems to be dead, left is when it will be dropped, in milliseconds; else 0
--
-- Twice: tickets are stated; a second run finds its own field, or its own place in the
-- queue.
-- Late: a round is never lowered, nor a final ticket raised by the proposals
-- before it, as none is greater; after the release or the leave, the mark in KEYS[3]
-- refuses it.

-- How long one that seems to be dead has a place behind a holder, in lives; microseconds
-- for each millisecond.
local late = 10 * 1000

-- uses place
local found = redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4])
if found > 0 then
  -- uses clock, queue
  local held = redis.call('HGETALL', KEYS[1])
  if held[1] == ARGV[1] then
    if ARGV[8] then
      -- A server that has restarted may have the hold from a snapshot alone: others may have had the lock since.
      -- uses guard
      local young = guard(ARGV[8])
      if young then
        return young
      end
    end
    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end
    if ARGV[7] ~= '0' then
      -- A yield of an earlier round may still come. Without a round the hold lasts.
      local last, ticket = granted(KEYS[5], ARGV[1])
      if last then
        outlive(KEYS[5], ARGV[2])
      end
      if last and last < tonumber(ARGV[7]) then
        grant(KEYS[5], ARGV[1], ARGV[7], ticket)
      end
    end
    -- The counter may have been evicted; the next extension writes it again.
    return tonumber(redis.call('GET', KEYS[2])) or clock()
  end
  local first = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
  if found > (held[1] and 1 or 0) + (first and 1 or 0) and redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    return -1
  end
  -- Who asks is alive: as the head it needs no look at its signs of life.
  if held[1] or first and first ~= ARGV[1] then
    local now, ticket = clock(), 0
    if ARGV[4] ~= '' then
      ticket = enqueue(KEYS[4], KEYS[5], now, ARGV[1], ARGV[4], ARGV[5], ARGV[6], held[1])
    end
    -- With dead ones dropped, or its ticket restored, it may be the first after all. While
    -- somebody has the lock a dead one holds up nobody, and may be only late.
    first = head(KEYS[4], KEYS[5], held[1] and now - late * ARGV[6] or now)
    if held[1] or first and first ~= ARGV[1] then
      local left = held[1] and redis.call('PTTL', KEYS[1]) or dying(KEYS[5], first, now)
      if KEYS[6] and held[1] then
        -- uses noted
        return {left, held[1], held[2], ticket, first or '', noted(KEYS[6], held[1])}
      end
      return {left, held[1] or '', held[2] or '0', ticket, first or ''}
    end
  end
end
local least = 0
if ARGV[8] then
  -- uses guard
  local young
  young, least = guard(ARGV[8])
  if young then
    return young
  end
end

-- The queue comes first: a companion of a wrong type must not leave the lock behind.
local ticket = tonumber(ARGV[4]) or 0
if found > 0 then
  if ARGV[5] ~= '1' then
    ticket = math.max(ticket, tonumber(redis.call('ZSCORE', KEYS[4], ARGV[1])) or 0)
  end
  drop(KEYS[4], KEYS[5], ARGV[1])
end
if ARGV[7] ~= '0' then
  grant(KEYS[5], ARGV[1], ARGV[7], ticket)
  if outlive(KEYS[5], ARGV[2]) then
    forget(KEYS[1], KEYS[5], ARGV[1])
  end
end
-- uses token
redis.call('HSET', KEYS[1], ARGV[1], '1')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local token, problem = mint(KEYS[2], least, ARGV[3])
if problem then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[5], round(ARGV[1]))
  return problem
end
if found > 0 and ARGV[7] ~= '0' then
  -- uses run
  local behind = run(KEYS[4], ARGV[1])
  return behind and {token, behind} or token
end
return token
