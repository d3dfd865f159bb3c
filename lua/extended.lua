-- What the scripts that extend a hold share.

-- Makes the hold in key live for ttl, with what is written about it, and its counter for life;
-- count is the hold's, known the one that is there; nil: it is given back.
local function extend(key, counter, waiters, note, hold, ttl, token, life, count, known)
  if not known then
    redis.call('HSET', key, hold, count)
  end
  -- What is extended lasts: no yield that is still under way may take it back.
  if waiters then
    redis.call('HDEL', waiters, hold .. ' round')
  end
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
    if note then
      redis.call('PEXPIRE', note, ttl)
    end
  end
  -- The counter must outlive the hold, or the next hold would get a lesser token.
  if counter and redis.call('PEXPIRE', counter, life) == 0 then
    redis.call('SET', counter, token, 'PX', life)
  end
  -- A full server refuses a script at the first command that needs memory, unless it has written before.
  if known and known ~= count then
    redis.call('HSET', key, hold, count)
  end
end
