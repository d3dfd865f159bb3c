-- Has the fencing counter skip the tokens of the holds that will follow one another on the same permits, and tells
-- whether others wait for some.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:token  string  fencing counter
-- KEYS[3] lock:{name}:void   zset    "hold id forced" -> when the mark may go, microseconds
-- KEYS[4] lock:{name}:queue  zset    waiting hold id -> ticket
-- KEYS[5] lock:{name}:slots  hash    hold id -> token, slots
-- ARGV[1] hold id
-- ARGV[2] slots of the hold
-- ARGV[3] token before the first one of the reserve
-- ARGV[4] last token of the reserve
-- ARGV[5] life of an idle fencing counter, milliseconds
--
-- Returns {1, counter, others}   the tokens are this hold's alone: here nobody was, or will be, granted one of them;
--   others is 1 if somebody of another client is among the first hundred who wait. Whoever is behind so many of this
--   client's is passed by none of them, and is seen when they have had their turn
-- Returns {0, counter, others}   the counter is beyond the first of them, nothing was written but the counter if that
--   was lost
-- Returns -1                     the hold is not there with these slots, nothing was written
-- Returns -2                     the same: it was ended by force
--
-- Two that ask for tokens in common have a node in common, and a node lets one of them have these; so has one that is
-- granted such a token. Whoever is granted one of the slots later has a greater one, as for fence.lua.
--
-- Twice: a second run finds the last token with the hold.
-- Late: it writes only while the hold is there with these slots, and never lowers the counter.

local record = redis.call('HGET', KEYS[5], ARGV[1])
if not record or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or string.match(record, '^%d+ (.*)$') ~= ARGV[2] then
  return redis.call('ZSCORE', KEYS[3], ARGV[1] .. ' forced') and -2 or -1
end
local mine, others = string.match(ARGV[1], '^.*:'), 0
local first = redis.call('ZRANGE', KEYS[4], 0, 99)
for i = 1, #first do
  if string.sub(first[i], 1, #mine) ~= mine then
    others = 1
    break
  end
end
if string.match(record, '^%d+') == ARGV[4] then
  return {1, tonumber(ARGV[4]), others}
end
local known = tonumber(redis.call('GET', KEYS[2]))
if not known then
  -- Others may have had later tokens than this hold: a lost counter goes on at the date, as if the name was forgotten.
  -- uses clock
  known = math.max(clock(), tonumber(ARGV[3]))
  redis.call('SET', KEYS[2], string.format('%.0f', known), 'PX', ARGV[5])
end
if known > tonumber(ARGV[3]) then
  return {0, known, others}
end
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[4] .. ' ' .. ARGV[2])
return {1, tonumber(ARGV[4]), others}
