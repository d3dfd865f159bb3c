-- What the scripts of the fair queue share about one waiter.
--
-- A queue is a zset, hold id -> ticket, and a hash, hold id -> "<alive until> <since>",
-- both in microseconds of this node's clock. For a hold that left the queue with the
-- lock, the hash has "<hold id> round" -> "<round> <ticket>", until the hold is known to
-- last, or has expired: a hold without that is taken for one that lasts. The round is the
-- last in which it asked for the lock: a yield gives back what that round or an earlier one
-- got, and never what a later one relies on. The ticket is that with which it waited: a
-- yield puts it back there, and whoever comes meanwhile is behind.

local function round(id)
  return id .. ' round'
end

-- The round and the ticket of a hold that got the lock and may yield it; nil if it lasts.
local function granted(waiters, id)
  local record = redis.call('HGET', waiters, round(id))
  if record then
    local number, ticket = string.match(record, '^(%d+) (%d+)$')
    return tonumber(number), tonumber(ticket)
  end
end

local function grant(waiters, id, number, ticket)
  redis.call('HSET', waiters, round(id), number .. string.format(' %.0f', ticket))
end

local function drop(queue, waiters, id)
  redis.call('HDEL', waiters, id, round(id))
  return redis.call('ZREM', queue, id)
end

-- Forgets what the hash of waiters has of holds that are not in key, but for the one called id. Their processes
-- died, or could not reach this node, before they said whether they last, and others keep the hash for as long as the
-- name is in use. A sample is enough: with few of them there is no need, and with many it finds them. Who may not
-- take one leaves them.
local function forget(key, waiters, id)
  for _ = 1, 10 do
    local fields = redis.pcall('HRANDFIELD', waiters, 100)
    local ids, records, gone = {}, {}, {}
    for i = 1, #fields do
      local hold, about = string.match(fields[i], '^(.*:.*) (%a+)$')
      if about == 'round' or about == 'floor' then
        ids[#ids + 1], records[#records + 1] = hold, fields[i]
      end
    end
    if not ids[1] then
      return
    end
    local there = redis.pcall('HMGET', key, unpack(ids))
    if there.err then -- a key that is not ours
      return
    end
    for i = 1, #ids do
      if not there[i] and ids[i] ~= id then
        gone[#gone + 1] = records[i]
      end
    end
    if gone[1] then
      redis.call('HDEL', waiters, unpack(gone))
    end
    if #gone < 25 then
      return
    end
  end
end

-- Keeps a key for two lives of a waiter at the least, and for longer if another wants that.
-- It is for three, so that not every sign of life has to set it.
local function keep(key, life)
  if redis.call('PTTL', key) < 2 * life then
    redis.call('PEXPIRE', key, 3 * life)
  end
end

-- Keeps a key for ttl at the least, milliseconds. It is for half as much again, so that not
-- every grant has to set it. It returns whether this one had to.
local function outlive(key, ttl)
  local short = redis.call('PTTL', key) < tonumber(ttl)
  if short then
    redis.call('PEXPIRE', key, string.format('%.0f', ttl * 1.5))
  end
  return short
end
