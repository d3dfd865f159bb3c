-- What the scripts after which others may read share.

-- Has the counter in key be token: whoever reads from now on is to have the token of who wrote last, the hold
-- called id. A node may have counted further: it was the first to count, by its own clock; or it has a reserve
-- that was not used up. But it may also have granted the hold late, when others had had the lock here meanwhile,
-- with greater tokens. So a counter falls only if it is known how far it may (I3): what rw.lua calls the floor.
local function written(key, waiters, id, token)
  local known = redis.pcall('GET', key)
  if type(known) ~= 'string' or known == token then
    return
  end
  local least = tonumber(token)
  if (tonumber(known) or 0) > least then
    least = math.max(least, tonumber(redis.call('HGET', waiters, floor(id)) or known))
  end
  redis.pcall('SET', key, string.format('%.0f', least), 'KEEPTTL')
end
