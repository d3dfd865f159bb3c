package main

// redlockLaneMutants are bugs in what carries the commands to a node.
var redlockLaneMutants = []Mutant{
	{
		Name: "commands about a key overtake each other",
		File: "redlock/window.go",
		Old: `		return true, 0
	}
	return false, k.last`,
		New: `		return false, 0
	}
	return false, k.last`,
		Package: "redlock",
		Tests:   "^TestACrowdLeavesWithoutWhoHasToWaitForAFlight$",
	},
	{
		Name:    "a burst tells how far a node is",
		File:    "redlock/window.go",
		Old:     "len(f.ops) <= telling && (a.width > 1 || !f.beside)",
		New:     "(a.width > 1 || !f.beside)",
		Package: "redlock",
		Tests:   "^TestABurstTellsNothingOfTheDistance$",
	},
	{
		Name:    "a flight beside a crowd tells how far a node is",
		File:    "redlock/window.go",
		Old:     "len(f.ops) <= telling && (a.width > 1 || !f.beside)",
		New:     "len(f.ops) <= telling",
		Package: "redlock",
		Tests:   "^TestAFlightBesideACrowdTellsNothingOfTheDistance$",
	},
	{
		Name: "a crowd waits for the flight before it",
		File: "redlock/window.go",
		Old: `	crowd = 16
`,
		New: `	crowd = 17
`,
		Package: "redlock",
		Tests:   "^TestACrowdDoesNotWaitForAFlightToANearNode$",
	},
	{
		Name:    "stuck flights are helped by crowds",
		File:    "redlock/runner.go",
		Old:     "working == 1 && l.stuck == 0 &&",
		New:     "working == 1 &&",
		Package: "redlock",
		Tests:   "^TestACrowdIsNoReasonForAnotherFlightBesideAStuckOne$",
	},
	{
		Name:    "what is queued at the end is forgotten",
		File:    "redlock/runner.go",
		Old:     "			if l.remains() {",
		New:     "			if false {",
		Package: "redlock",
		Tests:   "^TestCloseSendsWhatWasPrepared$",
	},
	{
		Name:    "a server that tells nothing gets batches",
		File:    "redlock/batch.go",
		Old:     `len(servers) == 1 && !servers[""]`,
		New:     "len(servers) == 1",
		Package: "redlock",
		Tests:   "^TestAServerThatTellsNothingOfItselfGetsNoBatch$",
	},
	{
		Name: "batches go on after a connection broke",
		File: "redlock/batch.go",
		Old: `	b.works.Store(false)
`,
		New:     "",
		Package: "redlock",
		Tests:   "^TestWhenANodeIsAskedWhetherBatchesWork$",
	},
	{
		Name: "three calls are a batch",
		File: "redlock/batch.go",
		Old: `	minBatch = 4
`,
		New: `	minBatch = 3
`,
		Package: "redlock",
		Tests:   "^TestTooFewCallsAreNoBatch$",
	},
	{
		Name:    "batches are refused for all",
		File:    "redlock/exchange.go",
		Old:     `[]string{"NOPERM", "CROSSSLOT"`,
		New:     `[]string{"CROSSSLOT"`,
		Package: "redlock",
		Tests:   "^TestAForbiddenNameFailsAlone$",
	},
	{
		Name:    "a full server releases nothing",
		File:    "redlock/exchange.go",
		Old:     `"ASK", "OOM"}`,
		New:     `"ASK"}`,
		Package: "redlock",
		Tests:   "^TestAFullServerReleasesOneByOne$",
	},
	{
		Name:    "any number of creations is sent to a silent node",
		File:    "redlock/pending.go",
		Old:     "return l.pending.open >= maxOpen && (l.failing || l.stuck > 0)",
		New:     "return false",
		Package: "redlock",
		Tests:   "^TestNodeThatHasAnsweredIsOwedNothing$",
	},
	{
		Name: "a node that answers is still owed",
		File: "redlock/pending.go",
		Old: `		d.open, d.count = 0, counts.Add(1)
`,
		New:     "",
		Package: "redlock",
		Tests:   "^TestNodeThatHasAnsweredIsOwedNothing$",
	},
	{
		Name: "removals are tried once",
		File: "redlock/pending.go",
		Old: `	d.ops = append(d.ops, o)
`,
		New:     "",
		Package: "redlock",
		Tests:   "^TestRemovalIsTriedAgainUntilItIsConfirmed$",
	},
	{
		Name:    "what is queued for a key is overtaken",
		File:    "redlock/window.go",
		Old:     " && !left[o.key()] {",
		New:     " {",
		Package: "redlock",
		Tests:   "^TestNothingOvertakesWhatWaitsForItsKey$",
	},
	{
		Name: "a node is silent whenever this process is behind",
		File: "redlock/sweep.go",
		Old: `		expires = expires.Add(lag)
`,
		New: `		_ = lag
`,
		Package: "redlock",
		Tests:   "^TestANodeIsNotSilentWhileTheProcessIsBehind$",
	},
	{
		Name:    "what a process was behind once counts for ever",
		File:    "redlock/sweep.go",
		Old:     "	l.behind /= 2\n",
		New:     "",
		Package: "redlock",
		Tests:   "^TestLagOfABusyProcessIsNotTheNodesAndIsSoonForgotten$",
	},
	{
		Name:    "a process that was asleep waits for as long for a node",
		File:    "redlock/sweep.go",
		Old:     "min(now.Sub(l.sweepAt), l.timeout)",
		New:     "now.Sub(l.sweepAt)",
		Package: "redlock",
		Tests:   "^TestLagOfABusyProcessIsNotTheNodesAndIsSoonForgotten$",
	},
	{
		Name:    "what was prepared waits for a removal that asks nobody",
		File:    "redlock/ballot.go",
		Old:     "			if b.motion.Flush {\n				l.flush()\n			}\n",
		New:     "",
		Package: "redlock",
		Tests:   "^TestARemovalSendsWhatWasPreparedToNodesThatItNeedNotAsk$",
	},
	{
		Name:    "a part of a removal is all of it",
		File:    "redlock/op.go",
		Old:     "o.halved = true",
		New:     "o.halved = mark",
		Package: "lock",
		Tests:   "^TestAWaiterLeavesThoughItsSlotMoves$",
	},
	{
		Name:    "while a slot moves, a part of the keys says that permits are free",
		File:    "lock/vacate.go",
		Old:     "	if t.engine.shared != nil {\n		return nil",
		New:     "	if t.engine.shared != nil && t.id == \"\" {\n		return nil",
		Package: "lock",
		Tests:   "^TestWhatIsSharedIsGivenBackThoughItsSlotMoves$",
	},
	{
		Name:    "a release does not wait for the end of a move",
		File:    "redlock/op.go",
		Old:     "if m.Removes && isPassing(err) && ",
		New:     "if m.Removes && false && isPassing(err) && ",
		Package: "lock",
		Tests:   "^TestAReleaseWaitsForTheEndOfAMove$",
	},
	{
		Name:    "a release that waited is never decided",
		File:    "redlock/pending.go",
		Old:     "	if !l.pend(o) {\n",
		New:     "	if !l.pend(o) && false {\n",
		Package: "redlock",
		Tests:   "^TestADeferredAnswerCountsInTheEnd$",
	},
	{
		Name:    "what a part of a release has told nobody stays untold",
		File:    "lua/fair_release.lua",
		Old:     "(waited > 0 or ARGV[7] == '1')",
		New:     "(waited > 0)",
		Package: "lua",
		Tests:   "^TestWhatFollowsAPartOfAReleaseWakesTheHead$",
	},
	{
		Name:    "what keeps a mutex needs the keys of a queue",
		File:    "lua/keep.go",
		Old:     "	if k.Queued {\n",
		New:     "	if k.Queued || true {\n",
		Package: "lock",
		Tests:   "^TestALockIsKeptNoLongerThoughItsSlotMoves$",
	},
}
