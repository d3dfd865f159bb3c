package main

// luaHoldMutants are bugs in the scripts that grant, extend and release a hold, and in what calls them.
var luaHoldMutants = []Mutant{
	{
		Name:    "an acquisition forgets the void mark",
		File:    "lua/acquire.lua",
		Old:     "if redis.call('ZSCORE', KEYS[3], ARGV[1]) then",
		New:     "if false then",
		Package: "reentrant",
		Tests:   "^TestAcquisitionThatArrivesAfterTheReleaseIsVoid$",
	},
	{
		Name: "a lock without a TTL",
		File: "lua/acquire.lua",
		Old: `redis.call('HSET', KEYS[1], ARGV[1], '1')
redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
		New:     "redis.call('HSET', KEYS[1], ARGV[1], '1')",
		Package: "lua",
		Tests:   "^TestAGrantHasItsTTL$",
	},
	{
		Name:    "nobody is told what the holder has left",
		File:    "lua/acquire.lua",
		Old:     "return {redis.call('PTTL', KEYS[1]), held[1], held[2], noted",
		New:     "return {-1, held[1], held[2], noted",
		Package: "lock",
		Tests:   "^TestCrashedHolderBlocksNoLongerThanItsTTL$",
	},
	{
		Name:    "a mark where nobody has the lock is not seen",
		File:    "lua/acquire.lua",
		Old:     "if redis.call('EXISTS', KEYS[1], KEYS[3]) > 0 then",
		New:     "if redis.call('EXISTS', KEYS[1]) > 0 then",
		Package: "lock",
		Tests:   "^TestMarkOutlivesWhatIsNineSecondsLate$",
	},
	{
		Name:    "the guard is ignored",
		File:    "lua/acquire.lua",
		Old:     "if ARGV[4] then",
		New:     "if false then",
		Package: "lock",
		Tests:   "^TestGuardKeepsARestartedNodeFromVoting$/^reentrant$",
	},
	{
		Name: "a grant without a token is left behind",
		File: "lua/acquire.lua",
		Old: `  redis.call('HDEL', KEYS[1], ARGV[1])
end
return token or problem`,
		New: `end
return token or problem`,
		Package: "lua",
		Tests:   "^TestNoTokenIsNoGrant$",
	},
	{
		Name: "a TTL is rounded down",
		File: "lua/acquire.go",
		Old: `		n++
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestTTLsAreRoundedUpwards$",
	},
	{
		Name: "a key in its last millisecond has no TTL",
		File: "lua/acquire.go",
		Old: `		pttl = 1
`,
		New: `		pttl = -1
`,
		Package: "lua",
		Tests:   "^TestKeyInItsLastMillisecondHasATTL$",
	},
	{
		Name:    "a late extension shortens",
		File:    "lua/extended.lua",
		Old:     "if redis.call('PTTL', key) < tonumber(ttl) then",
		New:     "if true then",
		Package: "lock",
		Tests:   "^TestExtendNeverShortens$",
	},
	{
		Name:    "an extension makes the key anew",
		File:    "lua/extend.lua",
		Old:     "return -redis.call('EXISTS', KEYS[1])",
		New:     "if redis.call('EXISTS', KEYS[1]) == 1 then return -1 end\n  redis.call('HSET', KEYS[1], ARGV[1], '1')",
		Package: "reentrant",
		Tests:   "^TestExtendDoesNotRecreateWhatIsGone$",
	},
	{
		Name:    "a counter does not outlive a long hold",
		File:    "lua/extended.lua",
		Old:     "if counter and redis.call('PEXPIRE', counter, life) == 0 then",
		New:     "if counter and redis.call('EXISTS', counter) == 0 then",
		Package: "lua",
		Tests:   "^TestANodeThatIsToldOfATokenRemembersIt$",
	},
	{
		Name:    "an extension helps a stranger",
		File:    "lua/extend.lua",
		Old:     "if not count then\n  if KEYS[3]",
		New:     "if not count and redis.call('EXISTS', KEYS[1]) == 0 then\n  if KEYS[3]",
		Package: "reentrant",
		Tests:   "^TestExtendFindsThatAnotherHasTheLock$",
	},
	{
		Name: "a yield takes back what was extended",
		File: "lua/extended.lua",
		Old: `    redis.call('HDEL', waiters, hold .. ' round')
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestYieldLeavesAloneWhatALaterRoundReliesOn$",
	},
	{
		Name: "an extension writes no TTL",
		File: "lua/extended.lua",
		Old: `    redis.call('PEXPIRE', key, ttl)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestExtendProlongsAFixedLease$",
	},
	{
		Name:    "a release ends whoever holds the lock",
		File:    "lua/release.lua",
		Old:     "found = redis.call('HDEL', KEYS[1], ARGV[1])",
		New:     "found = redis.call('DEL', KEYS[1])",
		Package: "reentrant",
		Tests:   "^TestReleaseThatArrivesLateDoesNotReleaseALaterHold$",
	},
	{
		Name:    "a release tells nobody",
		File:    "lua/release.lua",
		Old:     "redis.pcall('PUBLISH', KEYS[1] .. ARGV[2], ARGV[1])",
		New:     "0",
		Package: "lock",
		Tests:   "^TestReleaseWakesAtOnce$",
	},
	{
		Name: "marks are for ever",
		File: "lua/release.lua",
		Old: `  redis.call('PEXPIRE', KEYS[2], ARGV[3])
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestMarksThatAreOverAreForgotten$",
	},
	{
		Name: "old marks are kept",
		File: "lua/release.lua",
		Old: `  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestMarksThatAreOverAreForgotten$",
	},
	{
		Name:    "the guard is not sent",
		File:    "reentrant/kind.go",
		Old:     ", Guard: r.Guard, Noted",
		New:     ", Noted",
		Package: "lock",
		Tests:   "^TestGuardKeepsARestartedNodeFromVoting$/^reentrant$",
	},
	{
		Name:    "a quiet release publishes",
		File:    "reentrant/kind.go",
		Old:     "Quiet: quiet, Mark",
		New:     "Mark",
		Package: "lock",
		Tests:   "^TestAMinoritysGrantIsGivenBackSilently$",
	},
	{
		Name:    "a mark is not sent",
		File:    "reentrant/kind.go",
		Old:     "Quiet: quiet, Mark: mark, Undo",
		New:     "Quiet: quiet, Undo",
		Package: "lock",
		Tests:   "^TestMarkOutlivesWhatIsNineSecondsLate$",
	},
}
