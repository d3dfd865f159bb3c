-- What the scripts that grant share, where there is a guard.
--
-- A server that crashed may have forgotten a lock that somebody holds. Until every such
-- lock has ended it must not grant (design: restart guard, Redlock: delayed restarts).
-- Whether it is that young is asked with each grant: a client may be connected already.

-- uses clock

-- The seconds since this server started, by its clock: negative if that was set back by more; nil if it does
-- not tell.
local function uptime()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and tonumber(string.match(info, 'uptime_in_seconds:(%-?%d+)')) or nil
end

-- The error in place of a grant, or nil, and the least token to grant: a counter may come
-- from a snapshot, older than tokens that were granted since. Those are dates from before
-- this server's start, but maybe by another node's clock, that was ahead of this one. So the
-- least is the end of the guard, which is over when this server grants: tokens grow as long as
-- no two clocks are farther apart than that.
--
-- Uptime is the difference of two times that are each cut down to whole seconds, so the
-- server may be up to a second younger, and its start up to a second later.
local function guard(delay)
  local up = uptime()
  if not up then
    return redis.error_reply('RESTARTED this server does not tell its uptime, so it cannot be guarded')
  end
  local left = delay / 1000 - (up - 1)
  if left > 0 then
    local when = up .. ' s ago'
    if up < 0 then
      when = 'or had its clock set back, by which it starts in ' .. -up .. ' s'
    end
    return redis.error_reply('RESTARTED ' .. when .. ', no grants for another ' .. math.ceil(left) .. ' s')
  end
  return nil, (math.floor(clock() / 1000000) - up + 1) * 1000000 + delay * 1000
end
