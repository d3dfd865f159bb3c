-- What the scripts that end a hold share.

-- uses clock

-- Voids a hold id for life, milliseconds: a command that would create the hold may yet come. With '0' it does nothing.
-- First marks that are over go: a full server refuses a script whose first write needs memory.
local function void(marks, id, life)
  if life == '0' then
    return
  end
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', marks, '-inf', string.format('%.0f', now))
  redis.call('ZADD', marks, string.format('%.0f', now + life * 1000), id)
  if redis.call('PTTL', marks) < tonumber(life) then -- other marks may live longer
    redis.call('PEXPIRE', marks, life)
  end
end
