-- Does nothing: a server that answers it runs scripts for this user.
--
-- Returns 1   always
--
-- Twice: it does nothing.

return 1
