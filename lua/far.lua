-- Has processes that take the lock in turns know that one of them is farther away than the others,
-- and for how long they must leave a free lock alone if it is to come in time.
--
-- KEYS[1] lock:{name}:void   zset    "far <id of the mark> <milliseconds>" -> 2^52 more than until
--                                    when the mark counts, microseconds
-- ARGV[1] life of the mark, milliseconds
-- ARGV[2] id of the mark: that of the process, a colon, and a number that grows
-- ARGV[3] for how long the lock must be left alone, milliseconds
--
-- Returns 1   marked, also if nobody holds the lock: such a moment may be short, and come again
--             whenever the process leaves its mark
-- Returns 0   the process has left a newer mark, nothing was written
--
-- Twice: the second mark replaces the first one, and may go a little later.
-- Late: a newer mark of its process stands. Without one, it costs whoever holds the lock then no more
-- than a pause.

-- uses clock
local now = clock()
local from = 2 ^ 52
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('%.0f', from), string.format('%.0f', from + now))
local mine = 'far ' .. string.match(ARGV[2], '^[^:]*:')
local number = tonumber(string.match(ARGV[2], '%d+$'))
local marks = redis.call('ZREVRANGE', KEYS[1], 0, 15)
for i = 1, #marks do
  if string.sub(marks[i], 1, #mine) == mine then
    if tonumber(string.match(marks[i], '^%d+', #mine + 1)) > number then
      return 0
    end
    redis.call('ZREM', KEYS[1], marks[i])
  end
end
redis.call('ZADD', KEYS[1], string.format('%.0f', from + now + ARGV[1] * 1000), 'far ' .. ARGV[2] .. ' ' .. ARGV[3])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1
