-- Tells whether this server would grant a free lock to this user.
--
-- KEYS[1] lock:{name}:ready  string  never there
-- ARGV[1] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   it would; a server that is full, is a replica, or must not write for another reason fails
--
-- Twice: it changes nothing.
-- Late: nor then.

-- A write that never writes, by a command that every kind of lock needs.
redis.call('SET', KEYS[1], '', 'XX')
if ARGV[1] then
  -- uses guard
  local young = guard(ARGV[1])
  if young then
    return young
  end
end
return 1
