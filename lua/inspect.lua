-- Tells who holds a lock and who waits for it. Reads only.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds
-- KEYS[5] lock:{name}:note     string  label and note of the hold, for people
-- KEYS[6] lock:{name}:readers  zset    reading hold id -> alive until, microseconds
-- KEYS[7] lock:{name}:permits  zset    hold id of a semaphore -> alive until, microseconds
-- KEYS[8] lock:{name}:slots    hash    "hold id note" of a semaphore -> since, label and note
-- ARGV[1] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns {pttl, token, hold id, hold count, {waiting hold id, ticket, waited, ...}, refusal, {hold id, left, ...}, text, age}
--   the remaining TTL in milliseconds, -1 if the key has none, -2 if the lock is free;
--   the token, empty if there is no counter; who holds the lock, empty if nobody; then
--   who waits, in order, with which ticket, and for how long, in milliseconds; why
--   this server would not grant, empty if it would; of a read-write lock that is read, the holds
--   that read, or of a semaphore those that have permits, by their ids, and how long each lasts, in
--   milliseconds, and the first one as who holds the lock; and if it is there, what is written about
--   who holds the lock, and the age of that hold in milliseconds
--
-- Twice: it reads only.

-- uses clock
local now = clock()
local held = redis.call('HGETALL', KEYS[1])
local pttl = redis.call('PTTL', KEYS[1])
local readers, until_when = {}, redis.call('ZRANGE', KEYS[7], 0, -1, 'WITHSCORES')
if not until_when[1] then
  until_when = redis.call('ZRANGE', KEYS[6], 0, -1, 'WITHSCORES')
end
if until_when[1] and held[1] then
  local counts, timed, first, left = {}, false, nil, nil
  for i = 1, #held, 2 do
    counts[held[i]] = held[i + 1]
  end
  for i = 1, #until_when, 2 do
    local id = until_when[i]
    timed = timed or id == held[1]
    if counts[id] and tonumber(until_when[i + 1]) > now then
      readers[#readers + 1] = id
      readers[#readers + 1] = math.ceil((until_when[i + 1] - now) / 1000)
      if not first or id < first then
        first, left = id, readers[#readers]
      end
    end
  end
  -- Without them, it is one that is in the hash alone, unless there is none but readers whose time is over.
  if first then
    held, pttl = {first, counts[first]}, left
  elseif timed then
    held, pttl = {}, -2
  end
end
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
local text, age = noted(KEYS[5], held[1] or '')
if not text and held[1] then
  local since, about = string.match(redis.call('HGET', KEYS[8], held[1] .. ' note') or '', '^(%d+) (.*)$')
  if since then
    text, age = about, math.max(0, math.floor((now - since) / 1000))
  end
end
return {
  pttl,
  redis.call('GET', KEYS[2]) or '',
  held[1] or '',
  held[2] or '0',
  queue,
  young and young.err or '',
  readers,
  text,
  age,
}
