-- Marks a hold that is about to be ended by force, so that nothing creates it again and its
-- holder learns why it ended.
--
-- KEYS[1] lock:{name}:void  zset  voided hold id -> when the mark may go, microseconds;
--                                 "hold id forced" beside it
-- ARGV[1] hold id
-- ARGV[2] life of the mark, milliseconds
--
-- Returns 1   marked
--
-- Twice: the second mark is the first one, and may go a little later.
-- Late: hold ids are never used again, so it cannot touch a later hold.

-- uses clock
local now = clock()
local at = string.format('%.0f', now + ARGV[2] * 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], at, ARGV[1], at, ARGV[1] .. ' forced')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
