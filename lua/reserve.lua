-- Raises the fencing counter for the holds that will follow one another within a tenure, and
-- tells whether others wait for its end.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
-- KEYS[3] lock:{name}:void   zset    "hold id forced" -> when the mark may go, microseconds;
--                                    "deaf" -> until when somebody waits who does not listen;
--                                    "far <id> <milliseconds>", see far.lua
-- ARGV[1] hold id of the tenure
-- ARGV[2] last token of the reserve
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] channel for the end of the hold; empty: this server cannot tell who listens
--
-- Returns >= 0   the counter is at least that token; so many clients of this server listen
-- Returns -1     the hold is not there, nothing was written
-- Returns -2     the same: it was ended by force
-- Returns -3     the counter is at least that token; the number of listeners is not known
-- Returns {n, deaf, mark...}   the same as n; deaf is 1 if somebody waits who does not listen, else
--   0; and the marks of at most 16 processes that are farther away than others
--
-- Twice: the greater of two numbers is the same the second time.
-- Late: it writes only while the hold still has the key. Without that condition a later
-- hold could already have been granted one of these numbers here.

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') and -2 or -1
end
local token = redis.call('GET', KEYS[2])
if not token or tonumber(token) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
-- A user without the right to ask for listeners still gets its tokens.
local listen = ARGV[4] ~= '' and redis.pcall('PUBSUB', 'NUMSUB', ARGV[4])[2] or -3
if redis.call('EXISTS', KEYS[3]) == 0 then
  return listen
end
-- uses marks
return withMarks(listen, KEYS[3])
