-- What the scripts that grant share.

-- From here on a number here is not every integer: two holds could get the same token.
local most = 2 ^ 53

-- The next fencing token: one more than the counter in key, and no less than least; nil; and whether there
-- was no counter. Or nil and an error, and no token is known. The counter lives on for life, milliseconds.
local function mint(key, least, life)
  local token = redis.pcall('INCR', key)
  if type(token) ~= 'number' then
    if string.find(token.err, 'not an integer') or string.find(token.err, 'overflow') then
      token = redis.error_reply('ERR fencing counter is not a number that can grow')
    elseif string.find(token.err, 'nknown') then
      token = redis.error_reply('ERR unknown command INCR')
    end
    return nil, token
  end
  if token >= most then
    return nil, redis.error_reply('ERR fencing counter is not a number that can grow: it is at the end, 2^53')
  end
  if token > 1 and token >= least then
    redis.call('PEXPIRE', key, life)
    return token
  end
  local fresh = token <= 1
  -- There was none, or none of ours, or it is from before this server's start. Tokens are
  -- dates, so that a name that was forgotten goes on where it was.
  -- uses clock
  local set, problem = pcall(function()
    token = token > 1 and least or clock()
    -- %.0f: Lua's own conversion keeps 14 digits, and these numbers have 16.
    redis.call('SET', key, string.format('%.0f', token), 'PX', life)
  end)
  if not set then
    redis.call('PEXPIRE', key, 0)
    local why = type(problem) == 'table' and problem.err or problem
    if string.find(why, 'nknown') then
      -- Which command, told only by the line that called it, is lost by now.
      return nil, redis.error_reply('ERR unknown command ' .. (redis.pcall('TIME').err and 'TIME' or 'SET'))
    end
    error(problem)
  end
  return token, nil, fresh
end
