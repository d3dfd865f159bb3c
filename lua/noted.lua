-- What the scripts that tell who has a lock share.

-- What is written in key about a hold, or one that lingers, and how long ago the hold began,
-- milliseconds; nothing if that is about another hold. A key of a wrong type must not keep anybody from an answer.
local function noted(key, hold)
  local note = redis.pcall('GET', key)
  if type(note) ~= 'string' then
    return
  end
  local about, since, text = string.match(note, '^(%S+) (%d+) (.*)$')
  if about ~= string.match(hold, '^%S*') then
    return
  end
  -- uses clock
  return text, math.max(0, math.floor((clock() - since) / 1000))
end
