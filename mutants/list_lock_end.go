package main

// lockEndMutants are bugs in how a hold ends, and what is told of it.
var lockEndMutants = []Mutant{
	{
		Name:    "a release does not tell of a loss",
		File:    "lock/release.go",
		Old:     "if missed(h.engine, b) {",
		New:     "if missed(h.engine, b) && false {",
		Package: "lock",
		Tests:   "^TestUnlockFindsALossThatNobodyHasNoticed$",
	},
	{
		Name:    "a minority that forgot is a loss",
		File:    "lock/release.go",
		Old:     "return without > e.client.group.Size()-e.client.group.Quorum()",
		New:     "return without > 0",
		Package: "lock",
		Tests:   "^TestUnlockFindsALossThatNobodyHasNoticed$",
	},
	{
		Name:    "the first quorum of answers decides whether a released lock was lost",
		File:    "redlock/ballot.go",
		Old:     "return b.motion.Found == nil ||",
		New:     "return true ||",
		Package: "lock",
		Tests:   "^TestUnlockFindsALossThatNobodyHasNoticed$",
	},
	{
		Name:    "a lock that stays taken is not looked for when it ends",
		File:    "lock/linger.go",
		Old:     "		Found:     t.found(),\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestUnlockFindsALossThatNobodyHasNoticed$",
	},
	{
		Name:    "a release waits for every node although a quorum had the lock",
		File:    "redlock/ballot.go",
		Old:     "int(b.found) >= b.group.quorum ||",
		New:     "int(b.found) == len(b.ops) ||",
		Package: "lock",
		Tests:   "^TestUnlockWaitsForASilentNodeOnlyIfItDecides$",
	},
	{
		Name:    "a closed lease does not say so",
		File:    "lock/reason.go",
		Old:     "	if e.Reason == ReasonClosed {",
		New:     "	if false {",
		Package: "lock",
		Tests:   "^TestWhateverTellsOfAnEndNamesTheLeaseAndTheReason$|^TestWhatRacesCloseIsClosed$",
	},
	{
		Name: "a lost lease hides what the nodes answered",
		File: "lock/failure.go",
		Old: `		e.Last = h.last
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestLeaseThatWasNotRenewedTellsWhatEachNodeAnswered$",
	},
	{
		Name:    "an error of a lease is a new one each time",
		File:    "lock/failure.go",
		Old:     "	if l.failed == nil {",
		New:     "	if true {",
		Package: "lock",
		Tests:   "^TestWhateverTellsOfAnEndNamesTheLeaseAndTheReason$|^TestErrOfALease",
	},
	{
		Name: "force marks nothing",
		File: "lock/force.go",
		Old: `	if relied {
`,
		New: `	if false {
`,
		Package: "lock",
		Tests:   "^TestForceIs|^TestForceUnlock",
	},
	{
		Name:    "a hold that was forced counts as gone",
		File:    "lock/gone.go",
		Old:     "e == lua.ExtendForced {",
		New:     "false && e == lua.ExtendForced {",
		Package: "lock",
		Tests:   "^TestForceIsTold",
	},
	{
		Name:    "a holder in the process of the force is not told",
		File:    "lock/force.go",
		Old:     "if t := c.tenureOf(e.keys.Lock, hold); t != nil {",
		New:     "if t := c.tenureOf(e.keys.Lock, hold); false {",
		Package: "lock",
		Tests:   "^TestForceUnlockTellsAHolderInItsOwnProcessAtOnce$",
	},
	{
		Name:    "a minority's leftover counts as a forced hold",
		File:    "lock/force.go",
		Old:     "ended = found > 0 && (relied || found+silent >= g.Quorum())",
		New:     "ended = found > 0",
		Package: "lock",
		Tests:   "^TestStatusIsWhatTheAnswersDecide$|^TestForceUnlock",
	},
}
