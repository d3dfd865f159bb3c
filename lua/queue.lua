-- What the scripts of the fair queue share about its order. Who uses it uses place.lua.

-- The first waiter that is alive, and true. Dead ones are dropped when they come first:
-- behind others they hold up nobody. No more than about a thousand of them, as a server does
-- nothing else meanwhile: with more, it returns the next one as it is, and false. Nobody is
-- passed on that account, and the next call goes on.
local function head(queue, waiters, now)
  local size = 1
  while size <= 1000 do
    local ids = redis.call('ZRANGE', queue, 0, size - 1)
    if not ids[1] then
      return nil, true
    end
    local signs, fields = redis.call('HMGET', waiters, unpack(ids)), {}
    local first
    for i = 1, #ids do
      if signs[i] and tonumber(string.match(signs[i], '^%d+')) > now then
        first = ids[i]
        break
      end
      fields[2 * i - 1], fields[2 * i] = ids[i], round(ids[i])
    end
    if fields[1] then
      redis.call('HDEL', waiters, unpack(fields))
      redis.call('ZREM', queue, unpack(ids, 1, #fields / 2))
    end
    if first then
      return first, true
    end
    size = size * 10
  end
  return redis.call('ZRANGE', queue, 0, 0)[1], false
end

-- How long a waiter whose client does not listen has to connect again, microseconds.
local reconnect = 300000

-- What is left of a waiter's life if it is no longer than that, milliseconds, and 1 of who is
-- dead already; else 0.
local function dying(waiters, id, now)
  local alive = redis.call('HGET', waiters, id)
  local left = alive and string.match(alive, '^%d+') - now or 0
  return left <= reconnect and math.max(1, math.ceil(left / 1000)) or 0
end

-- Tells the head's client that the lock is free, and nobody else. Where nobody can be
-- listening elsewhere, a head whose client does not listen has died or is connecting
-- again: it gets a moment for that, and the next one that listens is told to ask, and
-- so learns when to ask again. It returns false if there are more that are dead, or do not
-- listen, than a server should be kept busy with: then nobody is told, and who gives the
-- next sign of life goes on.
--
-- about names the event, the same on every node: a client takes the same name, heard again within a second,
-- for another node's word about the same event. So the end of a hold has another name than what the hold did
-- before. But whatever it does each time it asks has one name: or two waiters that a minority lets in, one
-- after the other, would wake each other all the time.
local function wake(queue, waiters, now, channel, about, alone)
  local first, sure = head(queue, waiters, now)
  local rank, deaf = 0, {}
  while first and sure and rank < 100 do
    local client = string.match(first, '^(.*):')
    -- Without rights to the channel nobody hears, and nobody is dead for that.
    if not deaf[client] and (redis.pcall('PUBLISH', channel .. client, first .. ' ' .. about) ~= 0 or alone ~= '1') then
      return true
    end
    deaf[client] = true
    local alive = redis.call('HGET', waiters, first)
    if alive and tonumber(string.match(alive, '^%d+')) > now + reconnect then
      redis.call('HSET', waiters, first, string.format('%.0f', now + reconnect) .. (string.match(alive, ' .*') or ' 0'))
    end
    rank = rank + 1
    first = redis.call('ZRANGE', queue, rank, rank)[1]
  end
  return not first
end

-- Has id wait with a ticket. A final one is stated as it is. Until there is one, the
-- greatest proposal counts: the one that comes, the one that is here, or for who is new
-- here one more than the greatest that waits, and than the ticket of a holder that may
-- come back.
local function enqueue(queue, waiters, now, id, ticket, final, life, holder)
  local alive = redis.call('HGET', waiters, id) -- before the first write: it may be of a wrong type
  local mine = tonumber(redis.call('ZSCORE', queue, id))
  ticket = tonumber(ticket)
  if not mine and final ~= '1' then
    local last = redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]
    local _, back = granted(waiters, holder or '')
    ticket = math.max(ticket, (tonumber(last) or 0) + 1, (back or 0) + 1)
  end
  if not mine or ticket > mine or final == '1' then
    mine = ticket
    redis.call('ZADD', queue, string.format('%.0f', mine), id)
  end
  local since = alive and string.match(alive, ' .*') or string.format(' %.0f', now)
  redis.call('HSET', waiters, id, string.format('%.0f', now + life * 1000) .. since)
  keep(queue, life)
  keep(waiters, life)
  return mine
end
