-- What the scripts that grant a lock to a waiter share about who stands behind it.

-- The ticket below which every waiter is of the same client as the hold called id; nil: none is. No more waiters
-- are looked at than one tenure serves.
local function run(queue, id)
  local client, behind = string.match(id, '^.*:'), nil
  local from, to = 0, 3 -- as a rule another client's waiter is near
  while true do
    local ids = redis.call('ZRANGE', queue, from, to, 'WITHSCORES')
    for i = 1, #ids, 2 do
      local ticket = tonumber(ids[i + 1])
      if string.sub(ids[i], 1, #client) ~= client then
        return behind and ticket
      end
      behind = ticket + 1
    end
    if to == 127 or #ids < 8 then
      return behind
    end
    from, to = 4, 127
  end
end
