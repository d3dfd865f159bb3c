package main

// lockInspectMutants are bugs in what operators read.
var lockInspectMutants = []Mutant{
	{
		Name:    "ForceUnlock wakes no queue of the other mutex",
		File:    "lock/force.go",
		Old:     "Hold: hold, Again: true}",
		New:     "Hold: hold}",
		Package: "lock",
		Tests:   "^TestForceUnlockWakesWaitersOfEitherMutex$",
	},
	{
		Name:    "the longest TTL is told",
		File:    "lock/inspect.go",
		Old:     "ttl := left[quorum-1]",
		New:     "ttl := left[0]",
		Package: "lock",
		Tests:   "^TestInspectTellsTheTTLOfAQuorum$",
	},
	{
		Name:    "a key without a TTL expires first",
		File:    "lock/inspect.go",
		Old:     "	case a < 0 || b < 0:",
		New:     "	case false:",
		Package: "lock",
		Tests:   "^TestInspectTellsTheTTLOfAQuorum$",
	},
	{
		Name:    "who waits on a minority is in line",
		File:    "internal/kind/line.go",
		Old:     "if nodes[id] >= quorum {",
		New:     "if nodes[id] > 0 {",
		Package: "lock",
		Tests:   "^TestInspectShowsWhoWaitsOnAQuorum$",
	},
	{
		Name:    "a token that a minority knows is told",
		File:    "lock/inspect.go",
		Old:     "tokens[len(tokens)-quorum]",
		New:     "tokens[len(tokens)-1]",
		Package: "lock",
		Tests:   "^TestInspectTellsTheTokenOfAQuorum$",
	},
	{
		Name:    "the last node's count is told",
		File:    "lock/inspect.go",
		Old:     "counts[n.Count] > counts[s.Count] || s.Count == 0 {",
		New:     "true {",
		Package: "lock",
		Tests:   "^TestInspectTellsTheCountOfMostNodes$",
	},
	{
		Name:    "dead waiters are shown",
		File:    "lua/inspect.lua",
		Old:     "if alive and tonumber(string.match(alive, '^%d+')) > now then",
		New:     "if alive then",
		Package: "lua",
		Tests:   "^TestDeadWaitersAreNotShown$",
	},
	{
		Name:    "a waiter that was deaf has waited since 1970",
		File:    "lua/queue.lua",
		Old:     "(string.match(alive, ' .*') or ' 0')",
		New:     "' 0'",
		Package: "lua",
		Tests:   "^TestHowLongAWaiterHasWaitedIsKept$",
	},
	{
		Name:    "the last node tells for how long a hold has been there",
		File:    "lock/inspect.go",
		Old:     " || s.HeldFor > in.Noted.Age {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestTheNodeThatHasKnownAHoldLongestTellsForHowLong$",
	},
	{
		Name:    "a minority had the lock that was ended by force",
		File:    "lock/force.go",
		Old:     "ended = found > 0 && (relied || found+silent >= g.Quorum())",
		New:     "ended = found > 0",
		Package: "lock",
		Tests:   "^TestForceUnlockOfAMinoritysGrantEndsNobodysHold$",
	},
	{
		Name: "an end by force needs no quorum",
		File: "lock/force.go",
		Old: `	if err := b.Err(); err != nil {
		return fail(err)
	}
	return ended, nil`,
		New:     "\treturn ended, nil",
		Package: "lock",
		Tests:   "^TestForceUnlockThatAQuorumDoesNotConfirmFails$",
	},
}
