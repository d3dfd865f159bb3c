-- What the scripts of signs of life share. Who uses it uses place.

-- Has those of the holds called ids live on that wait, for life, milliseconds. It returns the others, which are to
-- ask, and what is true for each of ids.
local function live(queue, waiters, ids, now, life)
  local due, mine, signs, n = {}, {}, {}, 0
  local till = string.format('%.0f', now + life * 1000)
  local alive = redis.call('HMGET', waiters, unpack(ids))
  -- The queue may have been lost alone: evicted, or expired while the other is kept for a grant.
  local places = redis.call('ZMSCORE', queue, unpack(ids))
  for i = 1, #ids do
    local since = places[i] and alive[i] and string.match(alive[i], ' .*')
    mine[ids[i]] = true
    if since then
      signs[n + 1], signs[n + 2] = ids[i], till .. since
      n = n + 2
    else
      due[#due + 1] = ids[i]
    end
  end
  if n > 0 then
    redis.call('HSET', waiters, unpack(signs))
  end
  keep(queue, life)
  keep(waiters, life)
  return due, mine
end

-- The answer: who is to ask, and, behind a 0, the one of mine that is first in the queue, unless it is to ask. It may
-- have come there without a word, when the one before was granted the lock, and then does not know until when that one
-- has it.
local function answer(queue, due, mine)
  local first = redis.call('ZRANGE', queue, 0, 0)[1]
  if not first or not mine[first] then
    return due
  end
  for i = 1, #due do
    if due[i] == first then
      return due
    end
  end
  due[#due + 1] = 0
  due[#due + 1] = first
  return due
end
