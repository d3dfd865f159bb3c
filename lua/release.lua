-- Ends a hold and publishes that.
--
-- KEYS[1] lock:{name}        hash    hold id -> hold count
-- KEYS[2] lock:{name}:void   zset    voided hold id -> when the mark may go, microseconds;
--                                    absent, as those below, if none of them is needed
-- KEYS[3] lock:{name}:token  string  fencing counter
-- KEYS[4] lock:{name}:note   string  label and note of the hold, if any
-- ARGV[1] hold id
-- ARGV[2] what follows KEYS[1] in the name of the channel for the message that the hold has ended;
--         empty: no message
-- ARGV[3] life of the mark that voids this hold id, milliseconds; 0 or absent: no mark
-- ARGV[4] 1: the hold never had a lease, so nobody was told its token
--
-- Returns 1   the hold is ended
-- Returns 0   the hold was not there
--
-- Twice: it deletes only this hold's field, which a second run does not find, so it
-- tells nobody.
-- Late: hold ids are never used again, so it cannot touch a later hold.

local found = redis.call('HDEL', KEYS[1], ARGV[1])
if found == 1 and ARGV[4] then
  -- uses unmint
  unmint(KEYS[3])
end
if KEYS[4] then
  -- uses unnote
  unnote(KEYS[4], ARGV[1])
end
if found == 1 and ARGV[2] ~= '' then
  -- A user without rights to the channel releases all the same; waiters poll.
  redis.pcall('PUBLISH', KEYS[1] .. ARGV[2], ARGV[1])
end
-- The mark comes last: whatever becomes of it, the hold has ended.
if ARGV[3] and ARGV[3] ~= '0' then
  -- uses void
  void(KEYS[2], ARGV[1], ARGV[3])
end
return found
