-- Tells the waiters of a lock that it is free, if it is.
--
-- KEYS[1] lock:{name}  hash  hold id -> hold count
-- ARGV[1] channel for the message
-- ARGV[2] name of this message, the same on every node
--
-- Returns 1   the lock is free
-- Returns 0   it is held: its holder will notify them
--
-- Twice: waiters look once more, and find nothing new.

if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.pcall('PUBLISH', ARGV[1], ARGV[2])
return 1
