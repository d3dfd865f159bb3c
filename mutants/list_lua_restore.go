package main

// luaRestoreMutants are bugs in the scripts that give a hold back to a node, and in the restart guard.
var luaRestoreMutants = []Mutant{
	{
		Name:    "a repair forgets the void mark",
		File:    "lua/repair.lua",
		Old:     "if redis.call('ZSCORE', KEYS[3], ARGV[1]) then",
		New:     "if false then",
		Package: "reentrant",
		Tests:   "^TestRepairThatArrivesAfterTheReleaseRevivesNothing$",
	},
	{
		Name: "a repair is for ever",
		File: "lua/repair.lua",
		Old: `redis.call('PEXPIRE', KEYS[1], ARGV[3])
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestRepairTakesOnlyAFreeLockAndNotForEver$",
	},
	{
		Name: "a repair takes another's lock",
		File: "lua/repair.lua",
		Old: `if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis`,
		New: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis`,
		Package: "lua",
		Tests:   "^TestRepairTakesOnlyAFreeLockAndNotForEver$",
	},
	{
		Name:    "a young node is repaired",
		File:    "lua/repair.lua",
		Old:     "if ARGV[6] then",
		New:     "if false then",
		Package: "lock",
		Tests:   "^TestGuardedNodeIsNotRepairedEither$/^reentrant$",
	},
	{
		Name: "a repair writes no counter",
		File: "lua/repair.lua",
		Old: `redis.call('SET', KEYS[2], token, 'PX', ARGV[5])
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestANodeThatIsToldOfATokenRemembersIt$",
	},
	{
		Name:    "a node that granted the lock since vouches",
		File:    "lua/restore.lua",
		Old:     "not known or known > tonumber(ARGV[3]) or",
		New:     "not known or",
		Package: "lua",
		Tests:   "^TestNodeVouchesUnlessItMayHaveGrantedTheLockSince$",
	},
	{
		Name:    "a node that forgot vouches",
		File:    "lua/restore.lua",
		Old:     "if not known or known > tonumber(ARGV[3]) or",
		New:     "if known and known > tonumber(ARGV[3]) or",
		Package: "lua",
		Tests:   "^TestNodeVouchesUnlessItMayHaveGrantedTheLockSince$",
	},
	{
		Name:    "a young server vouches",
		File:    "lua/restore.lua",
		Old:     " or guard(ARGV[6]) then",
		New:     " then",
		Package: "lua",
		Tests:   "^TestNodeVouchesOnlyForTheTimeThatItHasRun$",
	},
	{
		Name:    "a node that the guard keeps out says that a hold is lost",
		File:    "lua/restore.lua",
		Old:     "return ARGV[7] and guard(ARGV[7]) or 0",
		New:     "return 0",
		Package: "lock",
		Tests:   "^TestHoldOfABareQuorumOutlivesTheRestartOfOneOfItsNodesUnderTheGuard$",
	},
	{
		Name:    "a young server says nothing, without a guard",
		File:    "lua/restore.lua",
		Old:     "return ARGV[7] and guard(ARGV[7]) or 0",
		New:     "return guard(ARGV[6]) or 0",
		Package: "lock",
		Tests:   "^TestHoldOfABareQuorumEndsWithTheRestartOfOneOfItsNodesWithoutAGuard$",
	},
	{
		Name:    "a young server confirms what it has of an earlier request",
		File:    "lua/former.lua",
		Old:     "return last and last < tonumber(number) and guard(delay) or nil",
		New:     "return nil",
		Package: "lua",
		Tests:   "^TestAServerThatIsTooYoungConfirmsNoGrantOfAnEarlierRequest$",
	},
	{
		Name:    "a young server whose records of a hold are out of reach is believed",
		File:    "lua/former.lua",
		Old:     "local last = 0",
		New:     "local last",
		Package: "lua",
		Tests:   "^TestAServerThatIsTooYoungConfirmsNoGrantOfAnEarlierRequest$",
	},
	{
		Name:    "renewals do not tell which request was granted",
		File:    "lock/extend.go",
		Old:     "Round:     t.round,",
		New:     "",
		Package: "lock",
		Tests:   "^TestAnOldGrantOfANodeThatRestartsConfirmsNoLease$",
	},
	{
		Name:    "the guard grants a second too soon",
		File:    "lua/guard.lua",
		Old:     "local left = delay / 1000 - (up - 1)",
		New:     "local left = delay / 1000 - (up + 1)",
		Package: "lua",
		Tests:   "^TestAServerMayBeASecondYoungerThanItSays$",
	},
	{
		Name:    "a server whose clock was set back seems not to tell its uptime",
		File:    "lua/guard.lua",
		Old:     "uptime_in_seconds:(%-?%d+)",
		New:     "uptime_in_seconds:(%d+)",
		Package: "lua",
		Tests:   "^TestAServerWhoseClockWasSetBackSaysSo$",
	},
	{
		Name: "a node that does not tell its age votes",
		File: "lua/guard.lua",
		Old: `  if not up then
`,
		New: `  if not up then return nil, 0 end
  if false then
`,
		Package: "lock",
		Tests:   "^TestGuardedNodeThatTellsNoUptimeDoesNotVote$",
	},
}
