-- Tells whether a hold was ended by force. Reads only.
--
-- KEYS[1] lock:{name}:void  zset  "hold id forced" -> when the mark may go, microseconds
-- ARGV[1] hold id
--
-- Returns 1   it was
-- Returns 0   it was not, as far as this server remembers
--
-- Twice: it reads only.

return redis.call('ZSCORE', KEYS[1], ARGV[1] .. ' forced') and 1 or 0
