-- What the scripts that grant share; it stands before each of them.

-- The next fencing token: one more than the counter in key, and no less than least. Or
-- nil and an error. The counter lives for so many milliseconds more.
local function mint(key, life, least)
  local token = redis.call('GET', key)
  if token then
    token = tonumber(token)
    if not token then
      return nil, redis.error_reply('ERR fencing counter is not a number')
    end
    token = math.max(token + 1, least)
  else
    token = clock()
  end
  -- %.0f: Lua's own conversion keeps 14 digits, and these numbers have 16.
  redis.call('SET', key, string.format('%.0f', token), 'PX', life)
  return token
end
