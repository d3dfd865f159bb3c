-- Gives back permits that only a minority of nodes granted, or each node others, and waits on in the
-- old place; or has who waits do so with its final ticket.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:void     zset    voided hold id -> when the mark may go, microseconds
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds;
--                                      "hold id round" -> round in which it was granted,
--                                      ticket; "last round" -> 0, the greatest ticket of those
-- KEYS[5] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[6] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- KEYS[7] lock:{name}:free     zset    free slot -> itself; the last one stands for all from it on
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
-- final ticket. Slots that another has by now are not what is known of this hold.

-- uses clock, place, queue, permits
local now = clock()
local last, waited = granted(KEYS[4], ARGV[1])
if not last or last > tonumber(ARGV[7]) then
  local ticket = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1])) or 0
  if ticket > 0 and ARGV[3] == '1' and ticket ~= tonumber(ARGV[2]) then
    local before = ticket
    ticket = tonumber(ARGV[2])
    redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
    -- It may be the turn of another who was behind it, or its own.
    local state = look(KEYS[1], KEYS[5], KEYS[6], KEYS[7], now)
    admit(KEYS[7], state, KEYS[3], KEYS[4], now, ARGV[5], ARGV[1] .. ' placed', ARGV[6], '',
      ticket > before and since(state, leaving(ARGV[1])) or nil)
  end
  return ticket
end
redis.call('HDEL', KEYS[4], round(ARGV[1]))
-- Nobody was told its token; but others may have had later ones meanwhile, so it is not taken back.
local _, slots = vacate(KEYS[1], KEYS[5], KEYS[6], KEYS[7], ARGV[1])
local ticket = 0
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  -- Back to where it waited, unless a quorum has settled another place since.
  local back, final = ARGV[2], ARGV[3]
  if final ~= '1' and waited > 0 then
    back, final = math.max(waited, tonumber(back)), '1'
  end
  ticket = enqueue(KEYS[3], KEYS[4], now, ARGV[1], back, final, ARGV[4], 'last')
end
-- Its own client knows that it could have permits here, and what to do about it.
local state = look(KEYS[1], KEYS[5], KEYS[6], KEYS[7], now)
admit(KEYS[7], state, KEYS[3], KEYS[4], now, ARGV[5], ARGV[1] .. ' asked', ARGV[6], ARGV[1],
  slots and since(state, {given = list(slots)}))
return ticket
