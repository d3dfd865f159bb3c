-- What the scripts that tell a holder of others share.

-- uses clock

-- The answer, or a list of it, 1 if somebody waits who does not listen, else 0, and the marks of at most
-- 16 processes that are farther away than others, if there is anything to tell.
local function withMarks(answer, key)
  local now = clock()
  local list = {answer, 0}
  local deaf = redis.call('ZSCORE', key, 'deaf')
  if deaf and tonumber(deaf) > now then
    list[2] = 1
  end
  -- Their scores are the greatest.
  local marks = redis.call('ZREVRANGE', key, 0, 15, 'WITHSCORES')
  for i = 1, #marks, 2 do
    if tonumber(marks[i + 1]) <= 2 ^ 52 + now then
      break
    end
    list[#list + 1] = marks[i]
  end
  return (list[2] == 1 or list[3]) and list or answer
end
