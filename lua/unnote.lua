-- What the scripts that end a hold share about its note.

-- Takes away what is written in key, if that is about this hold: it may have been deleted by
-- hand before, and another may have the lock by now.
local function unnote(key, hold)
  local note = redis.pcall('GET', key)
  if type(note) == 'string' and string.match(note, '^%S+') == hold then
    redis.call('PEXPIRE', key, 0)
  end
end
