-- Tells whether a hold is there.
--
-- KEYS[1] lock:{name}  hash  hold id -> hold count
-- ARGV[1] hold id
--
-- Returns 1   it is
-- Returns 0   it is not
--
-- Twice: it does nothing.

return redis.call('HEXISTS', KEYS[1], ARGV[1])
