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

-- Keeps a key for two lives of a waiter at the least, and for longer if another wants that.
-- It is for three, so that not every sign of life has to set it.
local function keep(key, life)
  if redis.call('PTTL', key) < 2 * life then
    redis.call('PEXPIRE', key, 3 * life)
  end
end

-- Keeps a key for ttl at the least, milliseconds. It is for half as much again, so that not
-- every grant has to set it.
local function outlive(key, ttl)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, string.format('%.0f', ttl * 1.5))
  end
end
