-- What the scripts after which others may read share.

-- Has the counter in key be token, exactly. A node that was late to grant may have counted further than
-- the token that the hold was told, and one that was not asked again less far; whoever reads from now on is to have
-- the token of who wrote last. Nobody has had the lock since it was granted here, so nobody was told what
-- the counter is.
local function written(key, token)
  local known = redis.pcall('GET', key)
  if type(known) == 'string' and known ~= token then
    redis.pcall('SET', key, token, 'KEEPTTL')
  end
end
