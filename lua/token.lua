-- What the scripts that grant share; it stands before each of them.

-- The next fencing token: one more than the counter in key, and no less than least. Or
-- nil and an error.
local function mint(key, least)
  local token = redis.call('GET', key)
  if not token then
    return clock()
  end
  token = tonumber(token)
  if not token then
    return nil, redis.error_reply('ERR fencing counter is not a number')
  end
  return math.max(token + 1, least)
end
