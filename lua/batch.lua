#!lua
-- Runs calls of other scripts as one command, one after the other.
--
-- KEYS       the keys of all calls, in their order
-- ARGV[1]    the plan, three characters for each call: the number of its script, from 1,
--            how many keys it has, how many arguments. '0' is 0, '1' is 1, and so on. A
--            number of arguments from 32 on is 32 more than come: the rest of them are
--            those of the last call of this script
-- ARGV[2...] the arguments of all calls, in their order
--
-- Returns {reply, ...}   of each call; {{error}} of one that failed, which stops none of the
--   others: there are clients that lose their place in a reply with errors inside
--
-- Twice: as the calls.
-- Late: as the calls.
--
-- Because of the first line, a server checks once before all calls that it has memory and is not a
-- replica, instead of before the first write only.

local run = {
  function(KEYS, ARGV)
    -- uses acquire
  end,
  function(KEYS, ARGV)
    -- uses release
  end,
  function(KEYS, ARGV)
    -- uses extend
  end,
  function(KEYS, ARGV)
    -- uses fence
  end,
  function(KEYS, ARGV)
    -- uses fair_acquire
  end,
  function(KEYS, ARGV)
    -- uses fair_release
  end,
  function(KEYS, ARGV)
    -- uses fair_yield
  end,
  function(KEYS, ARGV)
    -- uses fair_settle
  end,
  function(KEYS, ARGV)
    -- uses fair_beat
  end,
  function(KEYS, ARGV)
    -- uses server
  end,
  function(KEYS, ARGV)
    -- uses rw_acquire
  end,
  function(KEYS, ARGV)
    -- uses rw_release
  end,
  function(KEYS, ARGV)
    -- uses rw_extend
  end,
  function(KEYS, ARGV)
    -- uses rw_beat
  end,
  function(KEYS, ARGV)
    -- uses permit_acquire
  end,
  function(KEYS, ARGV)
    -- uses permit_release
  end,
  function(KEYS, ARGV)
    -- uses permit_extend
  end,
  function(KEYS, ARGV)
    -- uses permit_beat
  end,
  function(KEYS, ARGV)
    -- uses permit_reserve
  end,
}

local pcall, byte, unpack, plan = pcall, string.byte, unpack, ARGV[1]
local replies, last, k, a = {}, {}, 0, 1
local own, had = {}, 0 -- the keys of a call; a table for each would be more work than copying them
for i = 1, #plan / 3 do
  local script, keys, args = byte(plan, 3 * i - 2, 3 * i)
  local argv
  keys, args = keys - 48, args - 48
  if args < 32 then
    argv = {unpack(ARGV, a + 1, a + args)}
    last[script] = argv
  else
    argv, args = last[script], args - 32
    for j = 1, args do
      argv[j] = ARGV[a + j]
    end
  end
  for j = 1, keys do
    own[j] = KEYS[k + j]
  end
  for j = keys + 1, had do
    own[j] = nil
  end
  had = keys
  local done, reply = pcall(run[script - 48], own, argv)
  k, a = k + keys, a + args
  local failure = not done and reply
  if type(reply) == 'table' and reply.err then
    failure = reply.err
  end
  replies[i] = failure and {{string.find(failure, '^%u+ ') and failure or 'ERR ' .. failure}} or reply
end
return replies
