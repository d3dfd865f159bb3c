-- Gives back a lock that only a minority of nodes granted, to read or to write, and queues the hold in its old
-- place; or gives a hold that already waits its final ticket.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket
-- KEYS[5] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[6] lock:{name}:token    string  fencing counter
-- ARGV[1] hold id
-- ARGV[2] ticket to wait with; 0: a new one
-- ARGV[3] 1: the ticket is final
-- ARGV[4] how long a waiter without a sign of life counts as alive, milliseconds
-- ARGV[5] prefix of the clients' channels
-- ARGV[6] 1: every listener of this deployment is connected to this server
-- ARGV[7] round whose grant is given back, as are the grants of earlier rounds
--
-- Returns the ticket this hold waits with; 0 if it does not wait
--
-- Twice: the second run finds the place with its ticket, and no round.
-- Late: a grant of a later round has that round's number, and a grant that was extended has none:
-- neither is touched. After the hold has left, there is no grant and no place. A hold has at most one
-- final ticket.

-- uses clock, place, queue, rw
local now = clock()
sweep(KEYS[1], KEYS[5], now)
local last, waited = granted(KEYS[4], ARGV[1])
if not last or last > tonumber(ARGV[7]) then
  local ticket = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1])) or 0
  if ticket > 0 and ARGV[3] == '1' and ticket ~= tonumber(ARGV[2]) then
    ticket = tonumber(ARGV[2])
    redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
    -- It may be another's turn now.
    admit(KEYS[1], KEYS[5], KEYS[3], KEYS[4], now, ARGV[5], ARGV[1] .. ' placed', ARGV[6], '')
  end
  return ticket
end
redis.call('HDEL', KEYS[4], round(ARGV[1]), floor(ARGV[1]))

redis.call('ZREM', KEYS[5], ARGV[1])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 and not reads(ARGV[1]) then
  -- uses unmint
  unmint(KEYS[6])
end
shorten(KEYS[1], KEYS[5], now)
local ticket = 0
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  -- Back to where it waited, unless a quorum has settled another place since.
  local back, final = ARGV[2], ARGV[3]
  if final ~= '1' and waited > 0 then
    back, final = math.max(waited, tonumber(back)), '1'
  end
  ticket = enqueue(KEYS[3], KEYS[4], now, ARGV[1], back, final, ARGV[4])
end
-- Its own client knows that it could have the lock here, and what to do about it.
admit(KEYS[1], KEYS[5], KEYS[3], KEYS[4], now, ARGV[5], ARGV[1] .. ' asked', ARGV[6], ARGV[1])
return ticket
