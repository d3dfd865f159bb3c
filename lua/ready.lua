-- Tells whether this server would grant a free lock to this user.
--
-- KEYS[1] lock:{name}:ready  string  never there
-- ARGV[1] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   it would; a server that is full, is a replica, or must not write for another reason fails
--
-- Twice: it changes nothing.
-- Late: nor then.

-- What it takes to lock, to extend and to unlock. Only since Redis 7.0 can a server be asked about that.
if redis.acl_check_cmd then
  local key = string.match(KEYS[1], '^(.*):')
  local token = key .. ':token'
  local needed = {
    {'EXISTS', key}, {'HSET', key, '', ''}, {'PEXPIRE', key, '1'}, {'INCR', token}, {'PEXPIRE', token, '1'}, {'TIME'},
    {'SET', token, ''}, {'HGET', key, ''}, {'PTTL', key}, {'HDEL', key, ''},
  }
  for i = 1, #needed do
    local known, may = pcall(redis.acl_check_cmd, unpack(needed[i]))
    if not known then
      return redis.error_reply('ERR unknown command ' .. needed[i][1])
    elseif not may then
      return redis.error_reply('NOPERM this user has no permissions to run ' .. needed[i][1] .. ' for ' .. (needed[i][2] or 'locks'))
    end
  end
end
-- A write that never writes, by one of these.
redis.call('SET', KEYS[1], '', 'XX')
if ARGV[1] then
  -- uses guard
  local young = guard(ARGV[1])
  if young then
    return young
  end
end
return 1
