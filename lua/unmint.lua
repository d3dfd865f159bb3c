-- What the scripts that take back a grant share, of which no lease was ever made.

-- Takes back the token that a hold got from the counter in key: nobody was told it, and
-- the tokens that are known here are all less (I3). So a counter that has grown tells that
-- somebody was granted the lock, and not that somebody tried (restore.lua). A release must
-- not fail for it.
local function unmint(key)
  local token = tonumber(redis.pcall('GET', key))
  if token and token > 1 then
    redis.pcall('SET', key, string.format('%.0f', token - 1), 'KEEPTTL')
  end
end
