-- What the scripts of the semaphore share. Who uses it uses clock, place and queue.
--
-- The hash of the lock has one field for each hold, and a zset says until when each is alive, in
-- microseconds of this node's clock. Its numbered slots are in a hash: hold id -> "<token> <slots>", with the
-- slots as text, such as "0-3 7". Which slots are free is a zset of numbers that are their own
-- scores; the last one stands for all from it on. So it has no more members than slots were
-- ever taken at once since nobody had the lock, and the lowest free ones are the first.

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
  local all, i = '', 1
  while list[i] do
    local j = i
    while list[j + 1] == list[j] + 1 do
      j = j + 1
    end
    all = all .. (i > 1 and ' ' or '') .. list[i] .. (j > i and '-' .. list[j] or '')
    i = j + 1
  end
  return all
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

-- Whether all of these slots are free.
local function vacant(free, slots)
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

-- The lowest n free slots but for the first skip of them.
local function lowest(free, skip, n)
  local slots = redis.call('ZRANGE', free, skip, skip + n - 1)
  for i = 1, #slots do
    slots[i] = tonumber(slots[i])
  end
  local from = slots[#slots]
  if not from then
    local count = redis.call('ZCARD', free)
    from = count == 0 and skip - 1 or last(free) + skip - count
  end
  for i = #slots + 1, n do
    from = from + 1
    slots[i] = from
  end
  return slots
end

-- These slots, and the lowest free ones below permits, in ascending order: not more of them than a server should be
-- kept busy with.
local function choice(free, mine, permits)
  local others, all, i, j = lowest(free, 0, 1000), {}, 1, 1
  while mine[i] or others[j] and others[j] < permits do
    if mine[i] and not (others[j] and others[j] < mine[i]) then
      all[#all + 1], i = mine[i], i + 1
    else
      all[#all + 1], j = others[j], j + 1
    end
  end
  return all
end

-- The free slot of that rank, from 1.
local function ranked(free, rank)
  return lowest(free, rank - 1, 1)[1]
end

-- Ends a hold, and tells whether it was there. What is left of a lock that nobody has is of nobody.
local function vacate(key, permits, slots, free, id)
  local record = redis.call('HGET', slots, id)
  redis.call('HDEL', slots, id, id .. ' note')
  redis.call('ZREM', permits, id)
  local found = redis.call('HDEL', key, id)
  if redis.call('EXISTS', key) == 0 then
    redis.call('PEXPIRE', free, 0)
    redis.call('PEXPIRE', permits, 0)
    redis.call('PEXPIRE', slots, 0)
  elseif record then
    give(free, list(slotsOf(record)))
  end
  return found
end

-- Ends the holds whose time is over, and tells whether there were any.
local function sweep(key, permits, slots, free, now)
  if redis.call('EXISTS', key) == 0 then
    if redis.call('EXISTS', permits, slots, free) == 0 then
      return false
    end
    redis.call('PEXPIRE', permits, 0)
    redis.call('PEXPIRE', slots, 0)
    redis.call('PEXPIRE', free, 0)
    return true
  end
  local over = redis.call('ZRANGE', permits, '-inf', micros(now), 'BYSCORE', 'LIMIT', 0, 200)
  for i = 1, #over do
    vacate(key, permits, slots, free, over[i])
  end
  return over[1] ~= nil
end

-- Whether who has the lock leaves no room for others, and whether nobody has it. A hold of another
-- kind leaves none; nor do permits of whose keys this server has lost some, as it cannot tell which slots are free.
local function taken(key, permits, slots, free)
  if redis.call('EXISTS', key) == 0 then
    return false, true
  end
  local first = redis.call('ZRANGE', permits, 0, 0)[1]
  return not first or redis.call('EXISTS', slots, free) < 2 or redis.call('HEXISTS', key, first) == 0, false
end

-- Has a hold live for ttl at the least, milliseconds, and the keys for as long as it.
local function prolong(key, permits, slots, free, id, now, ttl)
  redis.call('ZADD', permits, 'GT', micros(now + ttl * 1000), id)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
    redis.call('PEXPIRE', permits, ttl)
    redis.call('PEXPIRE', slots, ttl)
    redis.call('PEXPIRE', free, ttl)
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

-- Takes these slots, and makes them those of the hold called id, which prolong then has live.
local function hold(key, slots, free, id, token, mine, count)
  take(free, mine)
  redis.call('HSET', slots, id, token .. ' ' .. text(mine))
  redis.call('HSET', key, id, count)
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
local function open(slots, free, id, wanted)
  local record = redis.call('HGET', slots, id)
  local own = {}
  if record then
    local mine = list(slotsOf(record))
    for i = 1, #mine do
      own[mine[i]] = true
    end
  end
  local others, all = {}, list(wanted)
  for i = 1, #all do
    if not own[all[i]] then
      others[#others + 1] = all[i]
    end
  end
  return vacant(free, others)
end

-- Those before the hold called id in the queue who fit into what is free together; how many slots these
-- are to have; the first that does not fit; whether that is known, as there may be too many dead ones to
-- tell; and when one of them that seems to be dead will be dropped, in milliseconds, or 0.
--
-- Each of them is to have the slots of its rank. So a server that hears them in another order gives
-- each the same slots as the others do.
local function ahead(queue, waiters, free, now, id)
  local from, dead, sum, fit, dying = 0, 0, 0, {}, 0
  local page = 2 -- as a rule the first does not fit
  while dead <= 1000 and #fit < 500 do
    local ids = redis.call('ZRANGE', queue, from, from + page - 1)
    page = math.min(4 * page, 100)
    if not ids[1] then
      return fit, sum, nil, true, dying
    end
    local signs = redis.call('HMGET', waiters, unpack(ids))
    for i = 1, #ids do
      local alive = signs[i] and tonumber(string.match(signs[i], '^%d+')) or 0
      if ids[i] == id then
        return fit, sum, nil, true, dying -- who asks is alive
      elseif alive <= now then
        drop(queue, waiters, ids[i])
        dead = dead + 1
      else
        if alive <= now + reconnect then
          local left = math.ceil((alive - now) / 1000)
          dying = dying == 0 and left or math.min(dying, left)
        end
        local n, permits = size(ids[i])
        if not n or ranked(free, sum + n) >= permits then
          return fit, sum, ids[i], true, dying
        end
        fit[#fit + 1], sum, from = ids[i], sum + n, from + 1
      end
    end
  end
  return fit, sum, redis.call('ZRANGE', queue, from, from)[1], dead <= 1000, dying -- the next call goes on
end

-- Tells all whose turn it is, but for the one called but. A client that does not listen has died or is
-- connecting again: it has a moment for that, and in its place others are told, who so learn when to ask
-- again. It returns false as wake does.
local function admit(key, permits, slots, free, queue, waiters, now, channel, about, alone, but)
  local closed, none = taken(key, permits, slots, free)
  if closed then
    return true
  end
  local ids, _, first, sure = ahead(queue, waiters, free, now, '')
  if not ids[1] then
    if first and none then -- of another kind
      return first == but or wake(queue, waiters, now, channel, about, alone)
    end
    return sure
  end
  local deaf, missing, rank = {}, 0, 0
  while rank < #ids or missing > 0 and rank < #ids + 100 do
    local id = ids[rank + 1] or redis.call('ZRANGE', queue, rank, rank)[1]
    if not id then
      break
    end
    rank = rank + 1
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
        if tonumber(string.match(alive, '^%d+')) > now + reconnect then
          redis.call('HSET', waiters, id, micros(now + reconnect) .. (string.match(alive, ' .*') or ' 0'))
        end
      end
    end
  end
  return sure or rank > 0
end

-- What is written about a hold, and how long ago it began, milliseconds; nothing if that is not known.
local function told(slots, id, now)
  local since, about = string.match(redis.call('HGET', slots, id .. ' note') or '', '^(%d+) (.*)$')
  if since then
    return about, math.max(0, math.floor((now - since) / 1000))
  end
end
