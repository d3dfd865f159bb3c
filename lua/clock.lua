-- What the scripts that tell the time share.

-- Microseconds since 1970, by this node's clock.
local function clock()
  local now = redis.call('TIME')
  return now[1] * 1000000 + now[2]
end
