package main

// fairLeaveMutants are bugs in how a waiter keeps its place on a node, and leaves it.
var fairLeaveMutants = []Mutant{
	{
		Name: "a waiter's sign of life is not noted",
		File: "lua/fair_beat.lua",
		Old: `  redis.call('HSET', KEYS[3], unpack(signs))
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestSignsOfLifeKeepAPlace$",
	},
	{
		Name:    "a sign of life does not look for a free lock",
		File:    "lua/fair_beat.lua",
		Old:     "if redis.call('EXISTS', KEYS[1]) == 0 then",
		New:     "if false then",
		Package: "lock",
		Tests:   "^TestLostWakeUpOfTheHeadCostsNoMoreThanASignOfLife$",
	},
	{
		Name:    "who has no place is not told",
		File:    "lua/fair_beat.lua",
		Old:     "local since = places[i] and alive[i]",
		New:     "local since = alive[i]",
		Package: "lock",
		Tests:   "^TestWaiterComesBackToAQueueThatIsLostAlone$",
	},
	{
		Name: "a release wakes nobody",
		File: "lua/fair_release.lua",
		Old: `  wake(KEYS[3], KEYS[4], clock(), ARGV[2], ARGV[1], ARGV[4])
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestLiveWaitersKeepTheirPlacesForHours$",
	},
	{
		Name:    "a head that leaves wakes nobody",
		File:    "lua/fair_release.lua",
		Old:     "(found == 1 or waited == 1 and redis.call('EXISTS', KEYS[1]) == 0)",
		New:     "(found == 1)",
		Package: "lock",
		Tests:   "^TestHeadThatLeavesAFreeLockWakesTheNext$",
	},
	{
		Name:    "a successor is counted on though another is the head",
		File:    "lua/fair_release.lua",
		Old:     "(ARGV[5] == '' or redis.call('ZRANGE', KEYS[3], 0, 0)[1] ~= ARGV[5])",
		New:     "(ARGV[5] == '')",
		Package: "lock",
		Tests:   "^TestWaitersOfManyProcessesAreServedInOrder$",
	},
	{
		Name:    "who leaves leaves no mark",
		File:    "lua/fair_release.lua",
		Old:     "if ARGV[3] ~= '0' then",
		New:     "if false then",
		Package: "lua",
		Tests:   "^TestACallThatComesLateChangesNothing$",
	},
	{
		Name: "a fair lock's marks are for ever",
		File: "lua/fair_release.lua",
		Old: `    redis.call('PEXPIRE', KEYS[2], ARGV[3])
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestMarksThatAreOverAreForgotten$",
	},
	{
		Name:    "a round is not yielded",
		File:    "lua/fair_yield.lua",
		Old:     "if not last or last > tonumber(ARGV[7]) then",
		New:     "if not last or last >= tonumber(ARGV[7]) then",
		Package: "lua",
		Tests:   "^TestYieldLeavesAloneWhatALaterRoundReliesOn$",
	},
	{
		Name:    "a late yield takes what a later round relies on",
		File:    "lua/fair_yield.lua",
		Old:     "if not last or last > tonumber(ARGV[7]) then",
		New:     "if not last then",
		Package: "lua",
		Tests:   "^TestYieldLeavesAloneWhatALaterRoundReliesOn$",
	},
	{
		Name:    "a yield costs the place",
		File:    "lua/fair_yield.lua",
		Old:     "back, final = math.max(waited, tonumber(back)), '1'",
		New:     "back, final = 0, '0'",
		Package: "lua",
		Tests:   "^TestGrantThatIsYieldedCostsTheWaiterNoPlace$",
	},
	{
		Name:       "a yield brings back who has left",
		File:       "lua/fair_yield.lua",
		Old:        "if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then",
		New:        "if true then",
		Equivalent: "the release that leaves the mark takes the record of the grant with it",
	},
	{
		Name: "a final ticket is not stated",
		File: "lua/fair_yield.lua",
		Old: `    redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
`,
		New:     "",
		Package: "lua",
		Tests:   "^TestYieldStatesAFinalTicketToWhoWaits$",
	},
}
