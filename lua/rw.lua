-- What the scripts of the read-write lock share. Who uses it uses clock, place and queue.
--
-- The hash of the lock has one field if somebody writes, and one for each hold that reads. Those that
-- read are in a zset, too, hold id -> until when it is alive, in microseconds of this node's clock:
-- whoever is in the hash alone has the lock alone. Who waits in the queue is told by the end of the
-- hold id: r for one who wants to read.

local function reads(id)
  return string.sub(id, -1) == 'r'
end

-- The field of the waiters' hash that tells how far the release of a hold that writes may lower the counter: to a
-- number that is no less than any token that others were told, as far as this node knows. A hold without one
-- lowers it nowhere.
local function floor(id)
  return id .. ' floor'
end

local function micros(time)
  return string.format('%.0f', time)
end

-- Forgets those that read and whose time is over. What is left in the zset of a lock that nobody has
-- is of nobody.
local function sweep(key, readers, now)
  local over = redis.call('ZRANGE', readers, '-inf', micros(now), 'BYSCORE', 'LIMIT', 0, 1000)
  if over[1] then
    redis.call('HDEL', key, unpack(over))
    redis.call('ZREM', readers, unpack(over))
  end
end

-- Whether somebody has the lock alone, and whether nobody has it.
local function taken(key, readers)
  if redis.call('EXISTS', key) == 0 then
    return false, true
  end
  return redis.call('EXISTS', readers) == 0, false
end

-- Has a hold that reads live for ttl at the least, milliseconds, and the keys for as long as it.
local function prolong(key, readers, id, now, ttl)
  redis.call('ZADD', readers, 'GT', micros(now + ttl * 1000), id)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
  if redis.call('PTTL', readers) < tonumber(ttl) then
    redis.call('PEXPIRE', readers, ttl)
  end
end

-- Has the keys live no longer than the last of those that read.
local function shorten(key, readers, now)
  local last = redis.call('ZREVRANGE', readers, 0, 0, 'WITHSCORES')[2]
  if last then
    local left = math.max(1, math.ceil((last - now) / 1000))
    if redis.call('PTTL', key) > left then
      redis.call('PEXPIRE', key, left)
      redis.call('PEXPIRE', readers, left)
    end
  end
end

-- The first waiter that the hold called id must not pass, who may wait, too: whoever stands before it,
-- or who wants to write, if it reads itself; nil if there is none. Dead ones are dropped on the way.
local function barrier(queue, waiters, now, id, reader)
  local from, dead = 0, 0
  local page = 2 -- as a rule the first is in the way
  while dead <= 1000 do
    local ids = redis.call('ZRANGE', queue, from, from + page - 1)
    page = math.min(4 * page, 100)
    if not ids[1] then
      return nil
    end
    local signs = redis.call('HMGET', waiters, unpack(ids))
    for i = 1, #ids do
      if ids[i] == id then
        return nil -- who asks is alive
      elseif not (signs[i] and tonumber(string.match(signs[i], '^%d+')) > now) then
        drop(queue, waiters, ids[i])
        dead = dead + 1
      elseif not reader or not reads(ids[i]) then
        return ids[i]
      else
        from = from + 1
      end
    end
  end
  return redis.call('ZRANGE', queue, from, from)[1] -- the next call goes on
end

-- The first waiter that is alive and of another client than the hold called id; nil if there is none among the first
-- three hundred. Whoever is behind so many of this client's is passed by none of them, and is seen when they have had
-- their turn.
local function stranger(queue, waiters, now, id)
  local client, from, page = string.match(id, '^.*:'), 0, 4
  while true do
    local ids = redis.call('ZRANGE', queue, from, from + page - 1)
    if not ids[1] or from > 300 then
      return nil
    end
    local signs = redis.call('HMGET', waiters, unpack(ids))
    for i = 1, #ids do
      if string.sub(ids[i], 1, #client) ~= client and signs[i] and tonumber(string.match(signs[i], '^%d+')) > now then
        return ids[i]
      end
    end
    from, page = from + page, 100
  end
end

-- Those whose turn it is, in their order: the first that waits, if nobody has the lock; and, unless
-- somebody has it alone, those that read and have only such before them. Not more than a server
-- should be kept busy with. And whether that is known: there may be too many dead ones to tell.
local function turns(key, readers, queue, waiters, now)
  local alone, free = taken(key, readers)
  if alone then
    return {}, true
  end
  local first, sure = head(queue, waiters, now)
  if not first or not sure then
    return {}, not first
  end
  if not reads(first) then
    return free and {first} or {}, true
  end
  local ids = redis.call('ZRANGE', queue, 0, 499)
  for i = 1, #ids do
    if not reads(ids[i]) then
      return {unpack(ids, 1, i - 1)}, true
    end
  end
  return ids, true
end

-- Tells those whose turn it is, but for the one called but. A client that does not listen has died or
-- is connecting again: see wake, which tells who is behind its waiters if there is nobody else. It
-- returns false as wake does.
local function admit(key, readers, queue, waiters, now, channel, about, alone, but)
  local ids, sure = turns(key, readers, queue, waiters, now)
  if not ids[1] then
    return sure
  end
  if not reads(ids[1]) then
    return ids[1] == but or wake(queue, waiters, now, channel, about, alone)
  end
  local heard, deaf = false, {}
  for i = 1, #ids do
    local id = ids[i]
    local client = string.match(id, '^(.*):')
    if id == but then
      heard = true
    elseif not deaf[client] then
      if redis.pcall('PUBLISH', channel .. client, id .. ' ' .. about) ~= 0 or alone ~= '1' then
        heard = true
      else
        deaf[client] = true
      end
    end
  end
  return heard or wake(queue, waiters, now, channel, about, alone)
end
