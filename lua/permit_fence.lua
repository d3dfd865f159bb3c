-- Raises the fencing counter to the token of a hold of permits, for which it is the only one.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:waiters  hash    "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[4] lock:{name}:slots    hash    hold id -> token, slots
-- ARGV[1] hold id
-- ARGV[2] fencing token of the hold
-- ARGV[3] life of an idle fencing counter, milliseconds
-- ARGV[4] number of the request that a quorum granted
-- ARGV[5] slots of the hold
-- ARGV[6] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns 1     the counter is at least the token, and no other hold got that token here
-- Returns 0     the hold is not there with these slots, nothing was written
-- Returns > 1   the counter, which is at least the token already: another hold may have it; or it was lost
--
-- Several have permits at once, so two whose nodes differ could each find the same token to be the greatest.
-- A node has a counter reach a token for one of them only, and two quorums share a node.
--
-- Twice: a second run finds the token with the hold, and a round is the same the second time.
-- Late: it writes only while the hold is there, and never lowers the counter.

local record = redis.call('HGET', KEYS[4], ARGV[1])
if not record or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local token, slots = string.match(record, '^(%d+) (.*)$')
if slots ~= ARGV[5] then
  return 0
end
-- uses place
if ARGV[6] then
  -- uses former
  local young = former(KEYS[3], ARGV[1], ARGV[4], ARGV[6])
  if young then
    return young
  end
end
-- A yield of an earlier round may still come, and would take the permits back.
local last, ticket = granted(KEYS[3], ARGV[1])
if last and last < tonumber(ARGV[4]) then
  grant(KEYS[3], ARGV[1], ARGV[4], ticket)
end
if tonumber(token) == tonumber(ARGV[2]) then
  return 1
end
local known = tonumber(redis.call('GET', KEYS[2]))
if not known then
  -- Others may have had later tokens: a lost counter goes on at the date.
  -- uses clock
  known = math.max(clock(), tonumber(ARGV[2]) - 1)
  redis.call('SET', KEYS[2], string.format('%.0f', known), 'PX', ARGV[3])
end
if known >= tonumber(ARGV[2]) then
  return known
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('HSET', KEYS[4], ARGV[1], ARGV[2] .. ' ' .. slots)
return 1
