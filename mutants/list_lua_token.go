package main

// luaTokenMutants are bugs in the scripts that give fencing tokens, make them agree and take them back.
var luaTokenMutants = []Mutant{
	{
		Name:    "a counter from an old snapshot counts on",
		File:    "lua/token.lua",
		Old:     "if token > 1 and token >= least then",
		New:     "if token > 1 then",
		Package: "lock",
		Tests:   "^TestGuardKeepsTokensGrowingAfterAnOldSnapshot$/^reentrant$",
	},
	{
		Name: "a counter that is used is not kept",
		File: "lua/token.lua",
		Old: `    redis.call('PEXPIRE', key, life)
    return token`,
		New:     "    return token",
		Package: "lock",
		Tests:   "^TestCounterLivesOnWhileTheNameIsUsed$",
	},
	{
		Name:    "a counter lives for ever",
		File:    "lua/token.lua",
		Old:     "string.format('%.0f', token), 'PX', life)",
		New:     "string.format('%.0f', token))",
		Package: "lock",
		Tests:   "^TestCounterIsKeptForADayByDefault$",
	},
	{
		Name:    "a counter that is missing begins with one",
		File:    "lua/token.lua",
		Old:     "token = token > 1 and least or clock()",
		New:     "token = token > 1 and least or 2",
		Package: "lock",
		Tests:   "^TestTokenAfterTheRetentionComesFromTheClock$",
	},
	{
		Name:    "a counter that is raised lives for ever",
		File:    "lua/fence.lua",
		Old:     "redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])",
		New:     "redis.call('SET', KEYS[2], ARGV[2])",
		Package: "lock",
		Tests:   "^TestCounterThatWasRaisedIsGoneAfterItsRetentionToo$",
	},
	{
		Name: "a second round raises no counter",
		File: "lua/fence.lua",
		Old: `  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestCounterThatWasRaisedIsGoneAfterItsRetentionToo$",
	},
	{
		Name:    "a late yield takes a told token back",
		File:    "lua/fence.lua",
		Old:     "if last and last < tonumber(ARGV[4]) then",
		New:     "if false then",
		Package: "lua",
		Tests:   "^TestACallThatComesLateChangesNothing$",
	},
	{
		Name:    "an attempt in vain keeps its token",
		File:    "lua/unmint.lua",
		Old:     "token - 1",
		New:     "token",
		Package: "lock",
		Tests:   "^TestAttemptInVainLeavesCountersAsTheyWere$",
	},
	{
		Name:    "a command that is missing where a counter begins is not named",
		File:    "lua/token.lua",
		Old:     "if string.find(why, 'nknown') then",
		New:     "if false then",
		Package: "reentrant",
		Tests:   "^TestCommandThatTheServerDoesNotHaveIsNamedAtOnce$/^SET$",
	},
	{
		Name:    "the last number is a token",
		File:    "lua/token.lua",
		Old:     "if token >= most then",
		New:     "if token > most then",
		Package: "lua",
		Tests:   "^TestTheLastTokenIsNone$",
	},
	{
		Name: "a counter that could not be written stays",
		File: "lua/token.lua",
		Old: `  if not set then
    redis.call('PEXPIRE', key, 0)
`,
		New: `  if not set then
`,
		Package: "lua",
		Tests:   "^TestACounterThatCannotBeWrittenIsTakenAway$",
	},
	{
		Name:    "a lost counter begins at the least of a guard",
		File:    "lua/token.lua",
		Old:     "token = token > 1 and least or clock()",
		New:     "token = least > 0 and least or clock()",
		Package: "lua",
		Tests:   "^TestALostCounterBeginsAtTheClockUnderAGuard$",
	},
	{
		Name: "a fair lock without a token leaves a round",
		File: "lua/fair_acquire.lua",
		Old: `  redis.call('HDEL', KEYS[5], round(ARGV[1]))
  return problem`,
		New:     "  return problem",
		Package: "lua",
		Tests:   "^TestNoTokenLeavesNoRound$",
	},
}
