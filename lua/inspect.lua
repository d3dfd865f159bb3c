-- Tells who holds a lock and who waits for it. Reads only.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds
-- KEYS[5] lock:{name}:note     string  what is written about the hold, for people
-- ARGV[1] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns {pttl, token, hold id, hold count, {waiting hold id, ticket, waited, ...}, refusal, text, age}
--   the remaining TTL in milliseconds, -1 if the key has none, -2 if the lock is free;
--   the token, empty if there is no counter; who holds the lock, empty if nobody; then
--   who waits, in order, with which ticket, and for how long, in milliseconds; why
--   this server would not grant, empty if it would; and if it is there, what is written about
--   who holds the lock, and the age of that hold in milliseconds
--
-- Twice: it reads only.

-- uses clock
local now = clock()
local held = redis.call('HGETALL', KEYS[1])
local queue = {}
local places = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
for i = 1, #places, 2 do
  local alive = redis.call('HGET', KEYS[4], places[i])
  if alive and tonumber(string.match(alive, '^%d+')) > now then
    queue[#queue + 1] = places[i]
    queue[#queue + 1] = tonumber(places[i + 1])
    queue[#queue + 1] = math.floor((now - (string.match(alive, ' (.*)') or now)) / 1000)
  end
end
local young
if ARGV[1] then
  -- uses guard
  young = guard(ARGV[1])
end
-- uses noted
return {
  redis.call('PTTL', KEYS[1]),
  redis.call('GET', KEYS[2]) or '',
  held[1] or '',
  held[2] or '0',
  queue,
  young and young.err or '',
  noted(KEYS[5], held[1] or ''),
}
