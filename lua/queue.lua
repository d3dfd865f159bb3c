-- What the scripts of the fair queue share; it stands before each of them.
--
-- A queue is a zset, hold id -> ticket, and a hash, hold id -> "<alive until> <since>",
-- both in microseconds of this node's clock.

local function clock()
  local now = redis.call('TIME')
  return now[1] * 1000000 + now[2]
end

local function drop(queue, waiters, id)
  redis.call('HDEL', waiters, id)
  return redis.call('ZREM', queue, id)
end

-- The first waiter that is alive. Dead ones are dropped when they come first: behind
-- others they hold up nobody.
local function head(queue, waiters, now)
  while true do
    local first = redis.call('ZRANGE', queue, 0, 0)[1]
    if not first then
      return nil
    end
    local alive = redis.call('HGET', waiters, first)
    if alive and tonumber(string.match(alive, '^%d+')) > now then
      return first
    end
    drop(queue, waiters, first)
  end
end

-- Tells the head's client that the lock is free, and nobody else. Where nobody can
-- be listening elsewhere, a head whose client does not listen is dropped at once.
local function wake(queue, waiters, now, channel, about, alone)
  while true do
    local first = head(queue, waiters, now)
    if not first then
      return ''
    end
    local client = string.match(first, '^(.*):')
    -- Without rights to the channel nobody hears, and nobody is to be dropped for that.
    local heard = redis.pcall('PUBLISH', channel .. client, first .. ' ' .. about)
    if heard ~= 0 or alone ~= '1' then
      return first
    end
    drop(queue, waiters, first)
  end
end

-- Has id wait with a ticket. A final one is stated as it is. Until there is one, the
-- greatest proposal counts: the one that comes, or the one that is here; or without
-- either, one more than the greatest that waits here.
local function enqueue(queue, waiters, now, id, ticket, final, life)
  local mine = tonumber(redis.call('ZSCORE', queue, id))
  ticket = tonumber(ticket)
  if ticket == 0 and not mine then
    local last = redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]
    ticket = last and tonumber(last) + 1 or 1
  end
  if not mine or ticket > mine or final == '1' then
    mine = ticket
    redis.call('ZADD', queue, string.format('%.0f', mine), id)
  end
  local alive = redis.call('HGET', waiters, id)
  local since = alive and string.match(alive, '%d+$') or string.format('%.0f', now)
  redis.call('HSET', waiters, id, string.format('%.0f ', now + life * 1000) .. since)
  redis.call('PEXPIRE', queue, 2 * life)
  redis.call('PEXPIRE', waiters, 2 * life)
  return mine
end
