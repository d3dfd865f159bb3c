-- Takes as many slots as the hold's id says, if so many are free and it is the hold's turn; or queues the
-- hold.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket; "last round" -> 0, the greatest ticket of those
-- KEYS[6] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[8] lock:{name}:free     zset    free slot -> itself; the last one stands for all from it on
-- ARGV[1] hold id
-- ARGV[2] TTL, milliseconds
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] ticket to wait with; 0: a new one; empty: do not wait, nor pass who waits
-- ARGV[5] 1: the ticket is final
-- ARGV[6] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[7] number of this request of the hold, which a yield may take back; 0: none
-- ARGV[8] prefix of the clients' channels
-- ARGV[9] slots to take if they are free, as most nodes say; empty: the lowest ones
-- ARGV[10] 1: every listener of this deployment is connected to this server
-- ARGV[11] 1: a refusal is to tell what is written about who has the lock
-- ARGV[12] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns {token, slots, free}   granted: the fencing token, and which slots; if these are not those that were asked
--   for by name, also all that could be had in their place
-- Returns -1   refused: this hold id was voided
-- Returns {left, hold id, hold count, ticket, head, dying, text, age}   not granted: who is in the way, of
--   permits the one that ends first unless it is renewed, with its remaining TTL in milliseconds, empty if nobody has the
--   lock; the ticket this hold waits with, 0 if it does not; who is first in the queue, empty if
--   nobody; when one of those before it that seems to be dead will be dropped, in milliseconds, or 0; what is
--   written about who has the lock, and its age in milliseconds, if that is wanted and there
--
-- Twice: tickets are stated; a second run finds its own field with its token and its slots, or its own place in
-- the queue.
-- Late: a round is never lowered, and only a later one changes the slots of a hold; no final ticket is
-- raised by the proposals before it, as none is greater; after the release or the leave, the
-- mark in KEYS[3] refuses it.

-- A name that nobody has or wants is the common case, and one call tells.
if ARGV[7] == '0' and ARGV[9] == '' and
    redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]) == 0 then
  local wanted, total = string.match(ARGV[1], 'p(%d+)/(%d+)$')
  wanted = tonumber(wanted)
  if wanted <= tonumber(total) then
    local floor = 0
    if ARGV[12] then
      -- uses guard
      local young
      young, floor = guard(ARGV[12])
      if young then
        return young
      end
    end
    redis.call('HSET', KEYS[1], ARGV[1], '1')
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    -- uses token
    local token, problem = mint(KEYS[2], floor, ARGV[3])
    if problem then
      redis.call('HDEL', KEYS[1], ARGV[1])
      return problem
    end
    local slots = wanted == 1 and '0' or '0-' .. wanted - 1
    redis.call('HSET', KEYS[7], ARGV[1], string.format('%.0f ', token) .. slots)
    redis.call('PEXPIRE', KEYS[7], string.format('%.0f', ARGV[2] * 1.5)) -- as prolong does
    return {token, slots}
  end
end

-- uses clock, place, queue, permits
local now = clock()
local n, permits = size(ARGV[1])
local state = look(KEYS[1], KEYS[6], KEYS[7], KEYS[8], now, ARGV[1])
local function answer(token, slots)
  if ARGV[9] == '' or ARGV[9] == slots then
    return {token, slots}
  end
  return {token, slots, text(choice(ranking(KEYS[8], state.own), list(slots), permits))}
end

local record = state.count and redis.call('HGET', KEYS[7], ARGV[1])
if record then
  if ARGV[12] then
    -- A server that has restarted may have the hold from a snapshot alone: others may have had the lock since.
    -- uses guard
    local young = guard(ARGV[12])
    if young then
      return young
    end
  end
  prolong(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1], now, ARGV[2], state.own)
  if ARGV[7] ~= '0' then
    -- A yield of an earlier round may still come. Without a round the hold lasts.
    local before, ticket = granted(KEYS[5], ARGV[1])
    if before then
      outlive(KEYS[5], ARGV[2])
    end
    if before and before < tonumber(ARGV[7]) then
      grant(KEYS[5], ARGV[1], ARGV[7], ticket)
      local had = slotsOf(record)
      if ARGV[9] ~= '' and ARGV[9] ~= had and not state.closed then
        spread(KEYS[1], KEYS[6], KEYS[7], KEYS[8], state)
        if move(KEYS[8], had, ARGV[9]) then
          -- Somebody may have had these slots since the hold got its token.
          -- uses token
          local token, problem = mint(KEYS[2], 0, ARGV[3])
          if problem then
            move(KEYS[8], ARGV[9], had)
            return problem
          end
          record = string.format('%.0f ', token) .. ARGV[9]
          redis.call('HSET', KEYS[7], ARGV[1], record)
          -- The slots that it has left may be for somebody who has none of the others, knowing of fewer permits.
          admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' moved', ARGV[10], ARGV[1],
            since(state, {given = without(list(had), list(ARGV[9]))}))
        end
      end
    end
  end
  local slots, token = slotsOf(record)
  return answer(tonumber(token), slots)
end
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return -1
end

local waits, at, byName = ARGV[4] ~= '', ranking(KEYS[8], state.own), false
local mine, dying, first = nil, 0, nil
local stir = state.swept or state.bared -- others may have been let in by what has ended
local waited = redis.call('ZSCORE', KEYS[4], ARGV[1])
-- Whether it waits so far behind a living one that it cannot be let in.
local function isFar()
  local last = redis.call('ZRANGE', KEYS[4], 2 * window, 2 * window, 'WITHSCORES')[2]
  if not last or waited and tonumber(waited) < tonumber(last) then
    return false
  end
  local alive = redis.call('HGET', KEYS[5], redis.call('ZRANGE', KEYS[4], 0, 0)[1])
  return alive and tonumber(string.match(alive, '^%d+')) > now
end
local function choose()
  if waits and not stir and isFar() then
    return nil
  end
  local fit, sum, sure, dropped, _
  fit, sum, first, sure, dying, _, dropped = ahead(KEYS[4], KEYS[5], at, now, ARGV[1])
  stir = stir or dropped
  if state.closed or first or not sure or fit[1] and not waits then
    return nil
  end
  local slots = lowest(at, sum + 1, n)
  if slots[n] >= permits then
    return nil
  end
  local named = ARGV[9] ~= '' and list(ARGV[9])
  byName = named and vacant(KEYS[8], named, state.own)
  return byName and named or slots
end
mine = choose()
local ticket, behind = 0, false
if not mine and waits then
  ticket = enqueue(KEYS[4], KEYS[5], now, ARGV[1], ARGV[4], ARGV[5], ARGV[6], 'last')
  local before = tonumber(waited or 0)
  if waited and ticket > before then
    local last = redis.call('ZRANGE', KEYS[4], window - 1, window - 1, 'WITHSCORES')[2]
    behind = not last or before <= tonumber(last) -- else it let nobody in, nor kept anybody out
  end
  waited = ticket
  if ARGV[4] ~= '0' and ticket ~= before then
    -- With its ticket restored it may be before the others after all.
    mine = choose()
  end
end
if not mine then
  if stir then
    admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' asked', ARGV[10], ARGV[1])
  elseif behind then
    -- It may be the turn of those who were behind it.
    admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' behind', ARGV[10], ARGV[1], leaving(ARGV[1]))
  end
  local who, count, left = '', '0', 0
  if state.closed then
    local all = redis.call('HGETALL', KEYS[1])
    who, count, left = all[1], all[2], redis.call('PTTL', KEYS[1])
  elseif not state.none then
    who, count = state.first, '1'
    left = math.max(1, math.ceil((state.till - now) / 1000))
  end
  local head = redis.call('ZRANGE', KEYS[4], 0, 0)[1] or ''
  if ARGV[11] == '1' and who ~= '' then
    return {left, who, count, ticket, head, dying, told(KEYS[7], who, now)}
  end
  return {left, who, count, ticket, head, dying}
end

local least = 0
if ARGV[12] then
  -- uses guard
  local young
  young, least = guard(ARGV[12])
  if young then
    return young
  end
end

-- The queue comes first: a companion of a wrong type must not leave the lock behind.
ticket = tonumber(ARGV[4]) or 0
if waited then
  if ARGV[5] ~= '1' then
    ticket = math.max(ticket, tonumber(waited))
  end
  drop(KEYS[4], KEYS[5], ARGV[1])
end
if ARGV[7] ~= '0' then
  grant(KEYS[5], ARGV[1], ARGV[7], ticket)
  -- Who comes meanwhile is behind all that may yield and come back.
  local _, greatest = granted(KEYS[5], 'last')
  if ticket > (greatest or 0) then
    grant(KEYS[5], 'last', 0, ticket)
  end
  if outlive(KEYS[5], ARGV[2]) then
    forget(KEYS[1], KEYS[5], ARGV[1])
  end
end
-- uses token
local token, problem = mint(KEYS[2], least, ARGV[3])
if problem then
  redis.call('HDEL', KEYS[5], round(ARGV[1]))
  return problem
end
hold(KEYS[1], KEYS[6], KEYS[7], KEYS[8], state, ARGV[1], string.format('%.0f', token), mine, '1')
prolong(KEYS[1], KEYS[6], KEYS[7], KEYS[8], ARGV[1], now, ARGV[2])
if waited and not stir and (byName or redis.call('ZRANGE', KEYS[4], window - 1, window - 1)[1]) then
  -- Its place in the window is another's. Its slots are those that it was to have, unless it has named others: these may be
  -- none of those that others have as many permits for.
  admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' in', ARGV[10], ARGV[1], byName and leaving(ARGV[1]) or {left = 0})
end
-- The first one in, after somebody who may have died, tells those who can come, too.
if stir then
  admit(KEYS[8], state, KEYS[4], KEYS[5], now, ARGV[8], ARGV[1] .. ' asked', ARGV[10], ARGV[1])
  -- What stays taken for a while ends without a word: whoever is first by now has to know when.
  local kept = string.match(redis.call('ZRANGE', KEYS[6], 0, 0)[1] or '', '^(.*) lingers$')
  if kept then
    wake(KEYS[4], KEYS[5], now, ARGV[8], kept .. ' kept', ARGV[10])
  end
end
return answer(token, text(mine))
