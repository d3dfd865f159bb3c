-- Tells which server runs the scripts of a lock.
--
-- KEYS[1] lock:{name}  hash  hold id -> hold count; not read
--
-- Returns the run_id of the server; empty if it does not tell
--
-- Twice: it does nothing.

redis.call('EXISTS', KEYS[1])
local info = redis.pcall('INFO', 'server')
return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
