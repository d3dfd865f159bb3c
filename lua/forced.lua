-- Tells whether a hold was ended by force. Reads only.
--
-- KEYS[1] lock:{name}:void  zset  "hold id forced" -> when the mark may go, microseconds
-- ARGV[1] hold id
-- ARGV[2] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1   it was
-- Returns 0   it was not, as far as this server remembers
-- Error RESTARTED: the same, and it has granted nothing since it may have forgotten
--
-- Twice: it reads only.

if redis.call('ZSCORE', KEYS[1], ARGV[1] .. ' forced') then
  return 1
end
-- uses guard
return ARGV[2] and guard(ARGV[2]) or 0
