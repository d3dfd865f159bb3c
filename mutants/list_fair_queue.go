package main

// fairQueueMutants are bugs in the queue on a node: who has which place, and whose turn it is.
var fairQueueMutants = []Mutant{
	{
		Name:    "dead waiters keep their turn",
		File:    "lua/queue.lua",
		Old:     "if signs[i] and tonumber(string.match(signs[i], '^%d+')) > now then",
		New:     "if signs[i] then",
		Package: "lua",
		Tests:   "^TestManyDeadWaitersAreDroppedByAFewCalls$",
	},
	{
		Name:    "the head is told nothing",
		File:    "lua/queue.lua",
		Old:     "redis.pcall('PUBLISH', channel .. client, first .. ' ' .. about)",
		New:     "1",
		Package: "lock",
		Tests:   "^TestLiveWaitersKeepTheirPlacesForHours$",
	},
	{
		Name: "a head that nobody listens for is waited for",
		File: "lua/queue.lua",
		Old: `now + reconnect then
      redis.call('HSET'`,
		New: `now + reconnect and false then
      redis.call('HSET'`,
		Package: "lock",
		Tests:   "^TestWaiterWhoseProcessIsKilledIsDroppedInAMoment$",
	},
	{
		Name:    "two waiters have the same ticket",
		File:    "lua/queue.lua",
		Old:     "(tonumber(last) or 0) + 1,",
		New:     "(tonumber(last) or 0),",
		Package: "lock",
		Tests:   "^TestWaitersOfManyProcessesAreServedInOrder$",
	},
	{
		Name:    "nobody is told when a dead head goes",
		File:    "lua/queue.lua",
		Old:     "return left <= reconnect and math.max(1, math.ceil(left / 1000)) or 0",
		New:     "return 0",
		Package: "lock",
		Tests:   "^TestWaiterWhoseProcessIsKilledIsDroppedInAMoment$",
	},
	{
		Name: "a queue is for ever",
		File: "lua/place.lua",
		Old: `    redis.call('PEXPIRE', key, 3 * life)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestQueueOfADeadCrowdGoesByItself$",
	},
	{
		Name:    "what those leave that die with a lock stays",
		File:    "lua/place.lua",
		Old:     "      redis.call('HDEL', waiters, unpack(gone))",
		New:     "      do end",
		Package: "lua",
		Tests:   "^TestWhoDiesWithALockLeavesNoRecordForLong$",
	},
	{
		Name:    "the grant of a hold that is there is forgotten",
		File:    "lua/place.lua",
		Old:     "if not there[i] and ids[i] ~= id then",
		New:     "if ids[i] ~= id then",
		Package: "lua",
		Tests:   "^TestWhatTheDeadLeftIsForgottenWhileOthersWait$",
	},
	{
		Name:    "a hold's own grant is forgotten",
		File:    "lua/place.lua",
		Old:     "if not there[i] and ids[i] ~= id then",
		New:     "if not there[i] then",
		Package: "lua",
		Tests:   "^TestWhoDiesWithALockLeavesNoRecordForLong$",
	},
	{
		Name:    "who waits leaves what the dead left",
		File:    "lua/fair_beat.lua",
		Old:     "forget(KEYS[1], KEYS[3], '')\n",
		New:     "",
		Package: "lua",
		Tests:   "^TestWhatTheDeadLeftIsForgottenWhileOthersWait$",
	},
	{
		Name:    "a queue ends while somebody waits",
		File:    "lua/place.lua",
		Old:     "if redis.call('PTTL', key) < 2 * life then",
		New:     "if redis.call('PTTL', key) < 0 then",
		Package: "lua",
		Tests:   "^TestSignsOfLifeKeepAPlace$",
	},
	{
		Name:    "the guard is for other locks",
		File:    "lua/fair_acquire.lua",
		Old:     "local least = 0\nif ARGV[8] then",
		New:     "local least = 0\nif false then",
		Package: "lock",
		Tests:   "^TestGuardKeepsARestartedNodeFromVoting$/^fair$",
	},
	{
		Name: "who comes may pass the queue",
		File: "lua/fair_acquire.lua",
		Old: `if held[1] or first and first ~= ARGV[1] then
    local now`,
		New: `if held[1] then
    local now`,
		Package: "fair",
		Tests:   "^TestTryLockDoesNotJumpTheQueue$",
	},
	{
		Name:    "who is late for a sign of life loses its place behind a holder",
		File:    "lua/fair_acquire.lua",
		Old:     "local late = 10 * 1000",
		New:     "local late = 0",
		Package: "lock",
		Tests:   "^TestPlaceBehindAHolderOutlivesALateSignOfLife$",
	},
	{
		Name:    "a dead waiter has its place for ever behind a holder",
		File:    "lua/fair_acquire.lua",
		Old:     "local late = 10 * 1000",
		New:     "local late = 1000 * 1000",
		Package: "lock",
		Tests:   "^TestPlaceBehindAHolderOutlivesALateSignOfLife$",
	},
	{
		Name: "a fair lock without a TTL",
		File: "lua/fair_acquire.lua",
		Old: `redis.call('PEXPIRE', KEYS[1], ARGV[2])
local token`,
		New:     "local token",
		Package: "lua",
		Tests:   "^TestAGrantHasItsTTL$",
	},
	{
		Name:    "a late enqueue is a ghost",
		File:    "lua/fair_acquire.lua",
		Old:     "and redis.call('ZSCORE', KEYS[3], ARGV[1]) then",
		New:     "and false then",
		Package: "fair",
		Tests:   "^TestEnqueueThatTheNetworkDeliversLateIsNoGhost$",
	},
	{
		Name: "a grant cannot be yielded",
		File: "lua/fair_acquire.lua",
		Old: `  grant(KEYS[5], ARGV[1], ARGV[7], ticket)
  if outlive`,
		New:     "  if outlive",
		Package: "lock",
		Tests:   "^TestLateYesOfARefusedRoundIsYielded$",
	},
	{
		Name: "who has the lock waits on",
		File: "lua/fair_acquire.lua",
		Old: `  drop(KEYS[4], KEYS[5], ARGV[1])
end`,
		New:     "end",
		Package: "lock",
		Tests:   "^TestGrantTakesTheHoldOutOfEveryQueue$",
	},
	{
		Name: "a successor that is not named is told",
		File: "fair/kind.go",
		Old: `		release.Successor = r.Successor
`,
		New:     "",
		Package: "fair",
		Tests:   "^TestHandOversInsideAProcessPublishNothing$",
	},
	{
		Name: "a fair request that comes again shortens the hold",
		File: "lua/fair_acquire.lua",
		Old: `    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end`,
		New:     "    redis.call('PEXPIRE', KEYS[1], ARGV[2])",
		Package: "lua",
		Tests:   "^TestAFairRequestThatComesAgainShortensNothing$",
	},
	{
		Name: "who asks again for what it has loses its ticket",
		File: "lua/fair_acquire.lua",
		Old: `      if last and last < tonumber(ARGV[7]) then
        grant(KEYS[5], ARGV[1], ARGV[7], ticket)`,
		New: `      if last and last < tonumber(ARGV[7]) then
        grant(KEYS[5], ARGV[1], ARGV[7], 0)`,
		Package: "lua",
		Tests:   "^TestWhoAsksAgainForWhatItHasKeepsItsTicket$",
	},
	{
		Name:    "an evicted counter is a low token",
		File:    "lua/fair_acquire.lua",
		Old:     "return tonumber(redis.call('GET', KEYS[2])) or clock()",
		New:     "return tonumber(redis.call('GET', KEYS[2])) or 1",
		Package: "lua",
		Tests:   "^TestATokenIsNoLessThoughTheCounterWasEvicted$",
	},
	{
		Name:    "a note of a hold that is gone fails a request",
		File:    "lua/fair_acquire.lua",
		Old:     "if KEYS[6] and held[1] then",
		New:     "if KEYS[6] then",
		Package: "lua",
		Tests:   "^TestANoteOfAHoldThatIsGoneKeepsNobodyFromAnAnswer$",
	},
}
