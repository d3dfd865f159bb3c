-- Takes the lock for a hold that reads or writes, as the end of its id tells, if nobody is in its way and
-- it is its turn; or queues the hold.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket; "hold id floor" -> see rw.lua
-- KEYS[6] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:note     string  label and note of the hold, for people; only if wanted
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] ticket to wait with; 0: a new one; empty: do not wait
-- ARGV[5] 1: the ticket is final
-- ARGV[6] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[7] number of this request of the hold, which a yield may take back; 0: none
-- ARGV[8] prefix of the clients' channels
-- ARGV[9] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns > 0               granted: the fencing token, for a reader the last writer's
-- Returns {token, ticket}   granted to a reader while somebody waits to write, or to a writer while somebody of
--   another client waits: with that waiter's ticket
-- Returns -1                refused: this hold id was voided
-- Returns {left, hold id, hold count, ticket, head, text, age}   not granted: who is in the way, with
--   its remaining TTL in milliseconds, empty if nobody has the lock; of those that read, the one that
--   lasts longest, and -1 in place of its count; the ticket this hold waits with, 0 if it does not; whose turn it is, empty if nobody waits; what is written about
--   who has the lock, and its age in milliseconds, if that is wanted and there. If nobody has the
--   lock and whose turn it is seems to be dead, left is when it will be dropped, in milliseconds; else 0
--
-- Twice: tickets are stated; a second run finds its own field, or its own place in the
-- queue.
-- Late: a round is never lowered, nor a final ticket raised by the proposals
-- before it, as none is greater; after the release or the leave, the mark in KEYS[3]
-- refuses it.

-- How long one that seems to be dead has a place behind a holder, in lives; microseconds
-- for each millisecond.
local late = 10 * 1000

-- uses clock, place, queue, rw
local now = clock()
local reader = reads(ARGV[1])

-- Tells the client of the hold called id that somebody waits from now on whom no later one may pass.
local function overtake(id, channel)
  redis.pcall('PUBLISH', channel .. (string.match(id, '^(.*):') or ''), id .. ' waits')
end

-- Tells those of these holds that read.
local function overtaken(ids, channel)
  for i = 1, #ids do
    if reads(ids[i]) then
      overtake(ids[i], channel)
    end
  end
end

sweep(KEYS[1], KEYS[6], now)

-- What one who is granted the lock is told: also who waits, whom no later one of its process may pass.
local queued = redis.call('EXISTS', KEYS[4]) == 1
local function granted_with(token)
  local first
  if queued and reader then
    first = barrier(KEYS[4], KEYS[5], now, '', true)
  elseif queued then
    first = stranger(KEYS[4], KEYS[5], now, ARGV[1])
  end
  local ticket = first and redis.call('ZSCORE', KEYS[4], first)
  return ticket and {token, tonumber(ticket)} or token
end

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  if ARGV[9] then
    -- A server that has restarted may have the hold from a snapshot alone: others may have had the lock since.
    -- uses guard
    local young = guard(ARGV[9])
    if young then
      return young
    end
  end
  if redis.call('ZSCORE', KEYS[6], ARGV[1]) then
    prolong(KEYS[1], KEYS[6], ARGV[1], now, ARGV[2])
  elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
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
  local token = tonumber(redis.call('GET', KEYS[2])) or now
  return granted_with(token)
end
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return -1
end

local alone, free = taken(KEYS[1], KEYS[6])
local held = alone or not free and not reader
local first = queued and barrier(KEYS[4], KEYS[5], held and now - late * ARGV[6] or now, ARGV[1], reader)
local waited = queued and redis.call('ZSCORE', KEYS[4], ARGV[1])
if held or first then
  local who, count, left = '', '0', 0
  if alone then
    local all = redis.call('HGETALL', KEYS[1])
    who, count, left = all[1], all[2], redis.call('PTTL', KEYS[1])
  elseif held then
    local last = redis.call('ZREVRANGE', KEYS[6], 0, 0, 'WITHSCORES')
    who, count = last[1], '-1'
    left = math.max(1, math.ceil((last[2] - now) / 1000))
  end
  local ticket = 0
  if ARGV[4] ~= '' then
    ticket = enqueue(KEYS[4], KEYS[5], now, ARGV[1], ARGV[4], ARGV[5], ARGV[6], who)
    -- With its ticket restored it may be before the others after all.
    first = barrier(KEYS[4], KEYS[5], held and now - late * ARGV[6] or now, ARGV[1], reader)
    if waited and not reader and ticket > tonumber(waited) then
      local after = redis.call('ZRANGE', KEYS[4], waited, '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
      if reads(after) then -- whose turn it may be now; and of those behind
        admit(KEYS[1], KEYS[6], KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' behind', '0', ARGV[1])
      end
    end
    -- Those who read, or wait to, let no more join them when they are told; if the message is lost, when
    -- they have not heard for too long.
    if not waited and not reader then
      overtaken(redis.call('ZRANGE', KEYS[6], 0, 99), ARGV[8])
      overtaken(redis.call('ZREVRANGE', KEYS[4], 0, 99), ARGV[8])
    end
    -- Nor does one who writes serve others of its process from then on. What lingers is of nobody.
    if not waited and string.match(who, ':%d+w$') and string.match(who, '^.*:') ~= string.match(ARGV[1], '^.*:') then
      overtake(who, ARGV[8])
    end
  end
  if held or first then
    if held then
      first = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
    else
      left = dying(KEYS[5], first, now)
    end
    if KEYS[7] and held then
      -- uses noted
      return {left, who, count, ticket, first or '', noted(KEYS[7], who)}
    end
    return {left, who, count, ticket, first or ''}
  end
  waited = redis.call('ZSCORE', KEYS[4], ARGV[1])
end

local least = 0
if ARGV[9] then
  -- uses guard
  local young
  young, least = guard(ARGV[9])
  if young then
    return young
  end
end

-- The queue comes first: a companion of a wrong type must not leave the lock behind.
local ticket = tonumber(ARGV[4]) or 0
if waited then
  if ARGV[5] ~= '1' then
    ticket = math.max(ticket, tonumber(waited))
  end
  drop(KEYS[4], KEYS[5], ARGV[1])
end
if ARGV[7] ~= '0' then
  grant(KEYS[5], ARGV[1], ARGV[7], ticket)
  if outlive(KEYS[5], ARGV[2]) then
    forget(KEYS[1], KEYS[5], ARGV[1])
  end
end
if free then
  redis.call('PEXPIRE', KEYS[6], 0) -- what is left of no hold
end
-- uses token
if not reader then
  redis.call('HSET', KEYS[1], ARGV[1], '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  local token, problem, fresh = mint(KEYS[2], least, ARGV[3])
  if problem then
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[5], round(ARGV[1]))
  elseif fresh then
    -- This node knows of no token. If that cannot be written, the counter does not fall, and the lock is not
    -- left behind.
    if type(redis.pcall('HSET', KEYS[5], floor(ARGV[1]), '0')) == 'number' then
      outlive(KEYS[5], ARGV[2])
    end
  else
    redis.pcall('HDEL', KEYS[5], floor(ARGV[1])) -- of an earlier grant, which has expired
  end
  return token and granted_with(token) or problem
end
local token = tonumber(redis.call('GET', KEYS[2]))
if token and token > 1 and token >= least then
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
else
  -- Nobody has written yet, or what is known of it is from before this server's start.
  local problem
  token, problem = mint(KEYS[2], least, ARGV[3])
  if problem then
    return problem
  end
end
redis.call('ZADD', KEYS[6], micros(now + ARGV[2] * 1000), ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], '1')
prolong(KEYS[1], KEYS[6], ARGV[1], now, ARGV[2])
-- The first one in, after somebody who may have died, tells those who can come, too.
if free and queued then
  admit(KEYS[1], KEYS[6], KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' asked', '0', '')
end
return granted_with(token)
