-- What the scripts that confirm a hold share, where there is a guard.

-- uses guard

-- The error in place of a confirmation, if all that this server has of a hold may be a grant of a request before
-- number, which was given back since: it may come from a snapshot, and another may have been granted the lock and be
-- forgotten. nil: the hold is what it seems to be.
local function former(waiters, hold, number, delay)
  local last = 0
  if waiters then
    last = granted(waiters, hold)
  end
  return last and last < tonumber(number) and guard(delay) or nil
end
