package main

// lockAttemptMutants are bugs in an attempt: its rounds, its validity, and what is given back.
var lockAttemptMutants = []Mutant{
	{
		Name:    "rivals for a permit are taken for its holders",
		File:    "lock/acquire.go",
		Old:     "d.sure && !a.mayBeRivals(d):",
		New:     "d.sure:",
		Package: "lock",
		Tests:   "^TestOneOfThoseThatTryAtTheSameMomentGetsAFreeLock$",
	},
	{
		Name:    "holders that were named before may be rivals",
		File:    "lock/acquire.go",
		Old:     "return a.mixed < maxMixed && !known",
		New:     "return !known || a.mixed < maxMixed",
		Package: "lock",
		Tests:   "^TestPermitsInUseAreRefusedSoonThoughNodesNameDifferentHolders$",
	},
	{
		Name:    "validity counts from the answer",
		File:    "lock/attempt.go",
		Old:     "c.group.Validity(b.Start(), t.ttl)",
		New:     "c.group.Validity(time.Now(), t.ttl)",
		Package: "lock",
		Tests:   "^TestValidityCountsFromTheStartOfEachAttempt$",
	},
	{
		Name:    "an attempt that took longer than its validity is a success",
		File:    "lock/attempt.go",
		Old:     "!time.Now().Before(validity) {",
		New:     "false {",
		Package: "lock",
		Tests:   "^TestAttemptThatEndsAfterItsValidityIsNoSuccess$",
	},
	{
		Name:    "a second round without a quorum is a success",
		File:    "lock/attempt.go",
		Old:     "return second, second.Err(), nil",
		New:     "return second, nil, nil",
		Package: "lock",
		Tests:   "^TestTokenThatNoQuorumKnowsIsNotGivenOut$",
	},
	{
		Name: "what was granted late is kept",
		File: "lock/attempt.go",
		Old: `	if l == nil {
		t.giveBack(true)
`,
		New: `	if false {
		t.giveBack(true)
`,
		Package: "lock",
		Tests:   "^TestTokenThatNoQuorumKnowsIsNotGivenOut$",
	},
	{
		Name:    "nobody waits until grants are given back",
		File:    "lock/attempt.go",
		Old:     "_ = b.Wait(ctx)",
		New:     "_, _ = b, ctx",
		Package: "lock",
		Tests:   "^TestCancelledLockReturnsWhenItsGrantsAreGivenBack$",
	},
	{
		Name:    "what a minority says of a holder counts",
		File:    "lock/deny.go",
		Old:     " || g.Size()-failed < g.Quorum() {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestHeldLockOfWhichAQuorumIsDownIsNoQuorum$",
	},
	{
		Name:    "the mark lives for a second",
		File:    "lock/vacate.go",
		Old:     "const markLife = 10 * time.Second",
		New:     "const markLife = time.Second",
		Package: "lock",
		Tests:   "^TestMarkOutlivesWhatIsNineSecondsLate$",
	},
	{
		Name:    "the least token of a quorum is the lease's",
		File:    "lock/attempt.go",
		Old:     "if granted.Token > token {",
		New:     "if token == 0 || granted.Token < token {",
		Package: "lock",
		Tests:   "^TestTokenIsTheGreatestOfTheQuorumThatGrantedTheLock$",
	},
	{
		Name:    "no second round for a token",
		File:    "lock/attempt.go",
		Old:     "	if agree >= t.engine.client.group.Quorum() {",
		New:     "	if agree >= 1 {",
		Package: "lock",
		Tests:   "^TestTokenThatNoQuorumKnowsIsNotGivenOut$",
	},
	{
		Name: "a minority's grants are kept",
		File: "lock/attempt.go",
		Old: `		t.giveBack(false)
		if ctx.Err() == nil {`,
		New:     "\t\tif ctx.Err() == nil {",
		Package: "lock",
		Tests:   "^TestProcessesThatSplitTheVotesPauseAtRandom$",
	},
	{
		Name: "who is cancelled keeps what it was granted",
		File: "lock/attempt.go",
		Old: `		t.giveBack(true) // a quorum may have granted it
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestCancelledLockReturnsWhenItsGrantsAreGivenBack$",
	},
	{
		Name: "a grant that races a cancellation is kept",
		File: "lock/attempt.go",
		Old: `	if ctx.Err() != nil {
		// Cancellation`,
		New: `	if false {
		// Cancellation`,
		Package: "lock",
		Tests:   "^TestGrantThatRacesACancellationIsGivenBack$",
	},
	{
		Name:    "rivals hold the lock",
		File:    "lock/deny.go",
		Old:     "d.sure = n >= e.client.group.Quorum()",
		New:     "d.sure = true",
		Package: "lock",
		Tests:   "^TestProcessesThatSplitTheVotesPauseAtRandom$",
	},
	{
		Name:    "split votes are no reason",
		File:    "lock/deny.go",
		Old:     "d.split = &splitError{votes: votes}",
		New:     "_ = votes",
		Package: "lock",
		Tests:   "^TestSplitVotesAreToldAsSuch$",
	},
	{
		Name:    "the end of what was given back is told to nobody",
		File:    "lock/attempt.go",
		Old:     "b := t.vacate(!seen)",
		New:     "b := t.vacate(true || seen)",
		Package: "lock",
		Tests:   "^TestEndOfAnAttemptThatWasGivenUpIsTold$",
	},
	{
		Name:    "a grant that comes too late for a TryLock is no kind of error",
		File:    "lock/fail.go",
		Old:     "errors.Is(err, errTooLate) || errors.Is(err, errNotAsked)",
		New:     "errors.Is(err, errNotAsked)",
		Package: "lock",
		Tests:   "^TestAGrantThatAnotherTrialKeepsUntilTheEndIsNoRefusal$",
	},
}
