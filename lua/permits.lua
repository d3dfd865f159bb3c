-- What the scripts of the semaphore share. Who uses it uses clock, place and queue.
--
-- The hash of the lock has one field for each hold, and a zset says until when each is alive, in
-- microseconds of this node's clock. Its numbered slots are in a hash: hold id -> "<token> <slots>", with the
-- slots as text, such as "0-3 7". Which slots are free is a zset of numbers that are their own
-- scores; the last one stands for all from it on. So it has no more members than slots were
-- ever taken at once since nobody had the lock, and the lowest free ones are the first.
--
-- A hold that found nobody is alone: it is alive for as long as its key, and all slots but its own are free. Neither
-- zset is there until another hold comes.

local function micros(time)
  return string.format('%.0f', time)
end

-- How many permits the hold called id wants, and of how many; nil if it is of another kind.
local function size(id)
  local n, permits = string.match(id, 'p(%d+)/(%d+)$')
  return tonumber(n), tonumber(permits)
end

-- Slots, in ascending order, as text.
local function text(list)
  local runs, i = {}, 1
  while list[i] do
    local j = i
    while list[j + 1] == list[j] + 1 do
      j = j + 1
    end
    runs[#runs + 1] = list[i] .. (j > i and '-' .. list[j] or '')
    i = j + 1
  end
  return table.concat(runs, ' ')
end

-- And back.
local function list(text)
  local all = {}
  for first, last in string.gmatch(text, '(%d+)%-?(%d*)') do
    for i = tonumber(first), tonumber(last) or tonumber(first) do
      all[#all + 1] = i
    end
  end
  return all
end

-- Those of the slots that are not among the others.
local function without(slots, others)
  local among, left = {}, {}
  for i = 1, #others do
    among[others[i]] = true
  end
  for i = 1, #slots do
    if not among[slots[i]] then
      left[#left + 1] = slots[i]
    end
  end
  return left
end

-- The slots of a hold, as text, and its token.
local function slotsOf(record)
  local token, slots = string.match(record, '^(%d+) (.*)$')
  return slots, token
end

-- Has slots be free. Without the zset nobody can tell which are, and nothing is granted.
local function give(free, slots)
  if redis.call('EXISTS', free) == 0 then
    return
  end
  local args = {}
  for i = 1, #slots do
    args[#args + 1] = slots[i]
    args[#args + 1] = slots[i]
    if #args == 1000 or i == #slots then
      redis.call('ZADD', free, unpack(args))
      args = {}
    end
  end
end

-- The first of the slots that are free, as are all from it on.
local function last(free)
  return tonumber(redis.call('ZREVRANGE', free, 0, 0)[1]) or 0
end

-- Has slots, in ascending order, be taken.
local function take(free, slots)
  local from, to = last(free), slots[#slots] + 1
  if to > from then
    local args = {}
    for slot = from, to do
      args[#args + 1] = slot
      args[#args + 1] = slot
      if #args == 1000 or slot == to then
        redis.call('ZADD', free, unpack(args))
        args = {}
      end
    end
  end
  for i = 1, #slots, 1000 do
    redis.call('ZREM', free, unpack(slots, i, math.min(i + 999, #slots)))
  end
end

-- Whether all of these slots are free, of which own are those of a hold that is alone; nil: none is.
local function vacant(free, slots, own)
  if own then
    local mine, taken = list(own), {}
    for i = 1, #mine do
      taken[mine[i]] = true
    end
    for i = 1, #slots do
      if taken[slots[i]] then
        return false
      end
    end
    return true
  end
  local from = last(free)
  for i = 1, #slots, 1000 do
    local known = redis.call('ZMSCORE', free, unpack(slots, i, math.min(i + 999, #slots)))
    for j = 1, #known do
      if not known[j] and slots[i + j - 1] < from then
        return false
      end
    end
  end
  return true
end

-- The free slots in ascending order: a function of the rank, from 1. They are read once, and no more of them than
-- are asked for.
local function ranking(free, own)
  local known, whole = {}, false
  if own then
    local mine, j = list(own), 1
    for slot = 0, mine[#mine] + 1 do
      if slot == mine[j] then
        j = j + 1
      else
        known[#known + 1] = slot
      end
    end
    whole = true
  end
  return function(rank)
    while rank > #known and not whole do
      local n = math.max(8, #known, math.min(rank - #known, 1000))
      local more = redis.call('ZRANGE', free, #known, #known + n - 1)
      whole = #more < n
      for i = 1, #more do
        known[#known + 1] = tonumber(more[i])
      end
    end
    return known[rank] or (known[#known] or -1) + rank - #known
  end
end

-- The n slots from that rank on.
local function lowest(at, rank, n)
  local slots = {}
  for i = 1, n do
    slots[i] = at(rank + i - 1)
  end
  return slots
end

-- These slots, and the lowest free ones below permits, in ascending order: not more of them than a server should be
-- kept busy with.
local function choice(at, mine, permits)
  local others, all, i, j = lowest(at, 1, 1000), {}, 1, 1
  while mine[i] or others[j] and others[j] < permits do
    if mine[i] and not (others[j] and others[j] < mine[i]) then
      all[#all + 1], i = mine[i], i + 1
    else
      all[#all + 1], j = others[j], j + 1
    end
  end
  return all
end

-- Ends a hold, and tells whether it was there, and which slots it had, as text. Who ends one looks at what is left.
local function vacate(key, permits, slots, free, id)
  local record = redis.call('HGET', slots, id)
  redis.call('HDEL', slots, id, id .. ' note')
  redis.call('ZREM', permits, id)
  local found = redis.call('HDEL', key, id)
  if record and redis.call('EXISTS', key) == 1 then
    give(free, list(slotsOf(record)))
  end
  return found, record and slotsOf(record)
end

-- Ends the holds whose time is over.
local function sweep(key, permits, slots, free, now)
  local over = redis.call('ZRANGE', permits, '-inf', micros(now), 'BYSCORE', 'LIMIT', 0, 200)
  for i = 1, #over do
    vacate(key, permits, slots, free, over[i])
  end
end

-- How things stand, once the holds whose time is over have ended:
--   none    nobody has the lock
--   closed  who has it leaves no room for others: a hold of another kind, or permits of whose keys this server has
--           lost some, as it cannot tell which slots are free
--   swept   some have ended
--   bared   what was left of a lock that nobody has was taken away
--   first   the hold that ends first, and till, when
--   count   that of the hold called id, if it is there
--   own     the slots of the only hold, if that is alone
local function look(key, permits, slots, free, now, id)
  local state = {none = false, closed = false, swept = false}
  local first = redis.call('ZRANGE', permits, 0, 0, 'WITHSCORES')
  if first[1] and tonumber(first[2]) <= now then
    sweep(key, permits, slots, free, now)
    state.swept = true
    first = redis.call('ZRANGE', permits, 0, 0, 'WITHSCORES')
  end
  if first[1] then
    local counts = redis.call('HMGET', key, first[1], id or '')
    if counts[1] then
      state.closed = redis.call('EXISTS', slots, free) < 2
      state.first, state.till, state.count = first[1], tonumber(first[2]), counts[2]
      return state
    elseif redis.call('EXISTS', key) == 1 then
      state.closed = true
      return state
    end
  else
    local held = redis.call('HGETALL', key)
    if held[1] then
      local record = not held[3] and redis.call('EXISTS', free) == 0 and redis.call('HGET', slots, held[1])
      local left = record and redis.call('PTTL', key) or -1
      if left < 0 then
        state.closed = true
        return state
      end
      state.first, state.till, state.own = held[1], now + left * 1000, slotsOf(record)
      state.count = held[1] == id and held[2]
      return state
    end
  end
  -- What is left of a lock that nobody has is of nobody.
  if redis.call('EXISTS', permits, slots, free) > 0 then
    redis.call('PEXPIRE', permits, 0)
    redis.call('PEXPIRE', slots, 0)
    redis.call('PEXPIRE', free, 0)
    state.bared = true
  end
  state.none = true
  return state
end

-- Has a hold live for ttl at the least, milliseconds, and the keys for as long as it. The companions are kept for
-- half as much again, so that not every hold has to set that; what is left of them when the key has gone is of nobody.
local function prolong(key, permits, slots, free, id, now, ttl, alone)
  if not alone then
    redis.call('ZADD', permits, 'GT', micros(now + ttl * 1000), id)
  end
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
  if redis.call('PTTL', slots) < tonumber(ttl) then
    local long = string.format('%.0f', ttl * 1.5)
    redis.call('PEXPIRE', permits, long)
    redis.call('PEXPIRE', slots, long)
    redis.call('PEXPIRE', free, long)
  end
end

-- Has the counter live on. If it was lost, others may have had later tokens than the hold with this one: it goes on
-- at the date then, as if the name was forgotten. After that this node vouches for no hold from before.
local function count(counter, token, now, life)
  if redis.call('PEXPIRE', counter, life) == 0 then
    redis.call('SET', counter, micros(math.max(now, tonumber(token))), 'PX', life)
  end
end

-- Has the keys not live on for much longer than the last hold: another kind would find the lock taken.
local function shorten(key, permits, slots, free, now)
  local longest = redis.call('ZREVRANGE', permits, 0, 0, 'WITHSCORES')[2]
  local left = longest and math.max(1, math.ceil((longest - now) / 1000))
  if left and redis.call('PTTL', key) > 2 * left then
    redis.call('PEXPIRE', key, left)
    redis.call('PEXPIRE', permits, left)
    redis.call('PEXPIRE', slots, left)
    redis.call('PEXPIRE', free, left)
  end
end

-- Writes down for the only hold what the zsets say of several.
local function spread(key, permits, slots, free, state)
  if not state.own then
    return
  end
  redis.call('ZADD', permits, micros(state.till), state.first)
  take(free, list(state.own))
  local left = redis.call('PTTL', slots)
  if left > 0 then
    redis.call('PEXPIRE', permits, left)
    redis.call('PEXPIRE', free, left)
  end
  state.own = nil
end

-- Takes these slots, and makes them those of the hold called id, which prolong then has live.
local function hold(key, permits, slots, free, state, id, token, mine, count)
  spread(key, permits, slots, free, state)
  take(free, mine)
  redis.call('HSET', slots, id, token .. ' ' .. text(mine))
  redis.call('HSET', key, id, count)
  state.none = false
end

-- Has a hold have other slots than before, if they are free, and tells whether they are.
local function move(free, had, wanted)
  local mine, new = list(had), list(wanted)
  give(free, mine)
  local can = vacant(free, new)
  take(free, can and new or mine)
  return can
end

-- Whether these slots are free for the hold called id, which may have others here, or some of them.
local function open(slots, free, own, id, wanted)
  local record = redis.call('HGET', slots, id)
  return vacant(free, without(list(wanted), record and list(slotsOf(record)) or {}), own)
end

-- Those before the hold called id in the queue who fit into what is free together; how many slots these
-- are to have; the first that does not fit; whether that is known, as there may be too many dead ones to
-- tell; when one of them that seems to be dead will be dropped, in milliseconds, or 0; which of them are to be
-- told that it is their turn; and whether some that were dead have been dropped.
--
-- Each of them is to have the slots of its rank. So a server that hears them in another order gives
-- each the same slots as the others do.
--
-- They are no more than window: so many are let in at a time, and whoever gets its slots lets the next one in. With
-- hundreds who could all have theirs at once, each request would look at all before it, and a server would answer none in
-- time.
--
-- To be told are those whom the change lets in: slots given, in ascending order, that are free now, or the place
-- of one who wanted so many slots that are left, of so many permits; all if change is nil.
-- Who fitted before that was told when it began to fit, as whatever lets somebody fit tells it. A message may be lost
-- with a connection, and then that client asks by a sign of life as soon as it is connected again; but who may be
-- without one is told again, as it may have to be replaced.
local window = 16
local function ahead(queue, waiters, at, now, id, change)
  local from, dead, sum, fit, dying, fresh, skip = 0, 0, 0, {}, 0, {}, 1
  local given = change and change.given or {}
  local page = 2 -- as a rule the first does not fit
  while dead <= 1000 and #fit < window do
    -- Of the dead ones there may be thousands.
    local ids = redis.call('ZRANGE', queue, from, from + math.min(page, dead > 0 and 100 or window - #fit) - 1)
    page = 4 * page
    if not ids[1] then
      return fit, sum, nil, true, dying, fresh, dead > 0
    end
    local signs = redis.call('HMGET', waiters, unpack(ids))
    for i = 1, #ids do
      local alive = signs[i] and tonumber(string.match(signs[i], '^%d+')) or 0
      if ids[i] == id then
        return fit, sum, nil, true, dying, fresh, dead > 0 -- who asks is alive
      elseif alive <= now then
        drop(queue, waiters, ids[i])
        dead, change = dead + 1, nil
      else
        if alive <= now + reconnect then
          local left = math.ceil((alive - now) / 1000)
          dying = dying == 0 and left or math.min(dying, left)
        end
        local n, permits = size(ids[i])
        if not n or at(sum + n) >= permits then
          return fit, sum, ids[i], true, dying, fresh, dead > 0
        end
        fit[#fit + 1], sum, from = ids[i], sum + n, from + 1
        if change then
          -- The slot that it would have had without those that were given, and behind the one that has left.
          while given[skip] and given[skip] <= at(sum + skip - 1) do
            skip = skip + 1
          end
          if at(sum + skip - 1 + (change.left or 0)) >= math.min(permits, change.of or permits) then
            change = nil -- and so for those behind it: whoever did not fit kept them out, however many permits they know of
          end
        end
        fresh[#fit] = not change or change.left and #fit == window or alive <= now + reconnect
        if #fit == window then
          break
        end
      end
    end
  end
  -- The next call goes on.
  return fit, sum, redis.call('ZRANGE', queue, from, from)[1], dead <= 1000, dying, fresh, dead > 0
end

-- Tells those whose turn it is since the change, or all whose turn it is if that is nil, but for the one called but. A
-- client that does not listen has died or is connecting again: it has a moment for that, and in its place others are told,
-- who so learn when to ask again. It returns false as wake does, and whether it has found nobody in the queue.
local function admit(free, state, queue, waiters, now, channel, about, alone, but, change)
  if state.closed then
    return true, false
  end
  local ids, _, first, sure, _, fresh = ahead(queue, waiters, ranking(free, state.own), now, '', change)
  if not ids[1] then
    if first and state.none then -- of another kind
      return first == but or wake(queue, waiters, now, channel, about, alone), false
    end
    return sure, not first
  end
  local deaf, missing, rank = {}, 0, 0
  while rank < #ids or missing > 0 and rank < #ids + 100 do
    local id = ids[rank + 1] or redis.call('ZRANGE', queue, rank, rank)[1]
    if not id then
      break
    end
    rank = rank + 1
    if rank > #ids or fresh[rank] then
      local client = string.match(id, '^(.*):')
      if id == but then
        missing = rank > #ids and missing - 1 or missing
      elseif not deaf[client] and (redis.pcall('PUBLISH', channel .. client, id .. ' ' .. about) ~= 0 or alone ~= '1') then
        missing = rank > #ids and missing - 1 or missing
      else
        deaf[client] = true
        local alive = redis.call('HGET', waiters, id)
        if rank <= #ids and alive then
          missing = missing + 1
        end
        -- Also of one that does not fit yet: its turn would come only to be waited for again.
        if alive and tonumber(string.match(alive, '^%d+')) > now + reconnect then
          redis.call('HSET', waiters, id, micros(now + reconnect) .. (string.match(alive, ' .*') or ' 0'))
        end
      end
    end
  end
  return sure or rank > 0, false
end

-- If look has found holds over, tells the waiters that have room now: the next script does not find them any more. id
-- is the hold that the script is called for.
local function follow(free, state, queue, waiters, now, channel, id, alone)
  if state.swept or state.bared then
    admit(free, state, queue, waiters, now, channel, id .. ' found', alone, '')
    state.swept, state.bared = false, false
  end
end

-- The change, unless look has found more than that to have changed. A hold that only waited has not left the remains
-- that look has taken away.
local function since(state, change)
  return not state.swept and not (state.bared and change and change.left) and change or nil
end

-- The change when the hold called id is not in the queue any more, or farther behind.
local function leaving(id)
  local n, permits = size(id)
  return n and {left = n, of = permits}
end

-- What is written about a hold, and how long ago it began, milliseconds; nothing if that is not known.
local function told(slots, id, now)
  local since, about = string.match(redis.call('HGET', slots, id .. ' note') or '', '^(%d+) (.*)$')
  if since then
    return about, math.max(0, math.floor((now - since) / 1000))
  end
end
