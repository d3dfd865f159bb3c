-- Tells who has which permits and who waits for some. Reads only.
--
-- KEYS[1] lock:{name}          hash    hold id -> hold count
-- KEYS[2] lock:{name}:token    string  fencing counter
-- KEYS[3] lock:{name}:queue    zset    waiting hold id -> ticket
-- KEYS[4] lock:{name}:waiters  hash    waiting hold id -> alive until, since, microseconds
-- KEYS[5] lock:{name}:permits  zset    hold id -> alive until, microseconds
-- KEYS[6] lock:{name}:slots    hash    hold id -> token, slots; "hold id note" -> since, label and note
-- ARGV[1] how long a restarted server must not grant, milliseconds; absent: no guard
--
-- Returns {counter, {hold id, left, record, note, ...}, {waiting hold id, ticket, waited, ...}, refusal, other}
--   the counter, empty if there is none; of each hold how long it lasts, in milliseconds, its token and its
--   slots, and since when, in milliseconds, and what is written about it, empty if nothing is; who waits, in order, with which
--   ticket, and for how long, in milliseconds; why this server would not grant, empty if it would; who has
--   the lock if that is a hold of another kind, empty if not
--
-- Twice: it reads only.

-- uses clock
local now = clock()
local held, counts, records = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #held, 2 do
  counts[held[i]] = held[i + 1]
end
local all = redis.call('HGETALL', KEYS[6])
for i = 1, #all, 2 do
  records[all[i]] = all[i + 1]
end
local holds, other = {}, held[1] or ''
local until_when = redis.call('ZRANGE', KEYS[5], 0, -1, 'WITHSCORES')
if not until_when[1] and held[1] and not held[3] and records[held[1]] then
  until_when = {held[1], now + redis.call('PTTL', KEYS[1]) * 1000} -- it is alone
end
for i = 1, #until_when, 2 do
  local id = until_when[i]
  if id == other or counts[id] then
    other = ''
  end
  if counts[id] and records[id] and tonumber(until_when[i + 1]) > now then
    local note = records[id .. ' note'] or ''
    local since, about = string.match(note, '^(%d+) (.*)$')
    holds[#holds + 1] = id
    holds[#holds + 1] = math.ceil((until_when[i + 1] - now) / 1000)
    holds[#holds + 1] = records[id]
    holds[#holds + 1] = since and math.max(0, math.floor((now - since) / 1000)) .. ' ' .. about or ''
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
return {redis.call('GET', KEYS[2]) or '', holds, queue, young and young.err or '', other}
