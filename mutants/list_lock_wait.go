package main

// lockWaitMutants are bugs in how a blocked Lock waits.
var lockWaitMutants = []Mutant{
	{
		Name:    "a lost message costs half a minute",
		File:    "lock/call.go",
		Old:     "const poll = 3 * time.Second",
		New:     "const poll = 30 * time.Second",
		Package: "lock",
		Tests:   "^TestLostWakeUpCostsNoMoreThanAPoll$",
	},
	{
		Name:    "who is refused at once does not hear why",
		File:    "lock/acquire.go",
		Old:     "return a.turns.accepted() || kind.IsPatient(a.ctx)",
		New:     "return true",
		Package: "lock",
		Tests:   "^TestALockWaitsOnThoughNodesRefuseItForAWhile$",
	},
	{
		Name:    "rivals pause for the same time",
		File:    "lock/sleep.go",
		Old:     "backoff.WithRandomizationFactor(0.9)",
		New:     "backoff.WithRandomizationFactor(0)",
		Package: "lock",
		Tests:   "^TestProcessesThatSplitTheVotesPauseAtRandom$",
	},
	{
		Name:    "pauses grow beyond half a second",
		File:    "lock/sleep.go",
		Old:     "backoff.WithMaxInterval(500*time.Millisecond)",
		New:     "backoff.WithMaxInterval(5*time.Second)",
		Package: "lock",
		Tests:   "^TestProcessesThatSplitTheVotesPauseAtRandom$",
	},
	{
		Name: "a wait goes on after its context",
		File: "lock/sleep.go",
		Old: `	case <-c.ctx.Done():
		return contextError(c.ctx)`,
		New: `	case <-(chan int)(nil):
		return contextError(c.ctx)`,
		Package: "lock",
		Tests:   "^TestWaitEndsWithItsContext$",
	},
	{
		Name:    "a wait goes on after the client",
		File:    "lock/sleep.go",
		Old:     "	case <-c.engine.client.closing:",
		New:     "	case <-(chan int)(nil):",
		Package: "lock",
		Tests:   "^TestClosedClientEndsItsWaiters$",
	},
	{
		Name:    "nobody looks again when it listens",
		File:    "lock/contender.go",
		Old:     "case !c.checked && c.behind == nil:",
		New:     "case false:",
		Package: "reentrant",
		Tests:   "^TestReleaseBeforeTheSubscriptionIsNotMissed$",
	},
	{
		Name:    "nobody looks when the holder's key ends",
		File:    "lock/contender.go",
		Old:     "if d.free > 0 && d.free < pause {",
		New:     "if false {",
		Package: "lock",
		Tests:   "^TestCrashedHolderBlocksNoLongerThanItsTTL$",
	},
	{
		Name: "who leaves does not let the next one try",
		File: "lock/line.go",
		Old: `	case 0:
		ct.wakeHead(false)
`,
		New: `	case 0:
`,
		Package: "lock",
		Tests:   "^TestWhoIsBehindAWaiterThatGivesUpHasItsTurn$",
	},
	{
		Name: "messages are for nobody",
		File: "lock/wake.go",
		Old: `	ct.wakeHead(true)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestReleaseWakesAtOnce$",
	},
	{
		Name: "a client that is closed grants",
		File: "lock/attempt.go",
		Old: `	case c.drains():
		d, err`,
		New: `	case false:
		d, err`,
		Package: "lock",
		Tests:   "^TestGrantThatRacesCloseIsGivenBack$",
	},
	{
		Name: "a message of a minority is not waited for",
		File: "waiter/channel.go",
		Old:  "	c.wake(said...) // unlocks",
		New: `	_ = said
	c.wake() // unlocks`,
		Package: "lock",
		Tests:   "^TestMessageOfAMinorityWakesAfterAMoment$",
	},
	{
		Name:    "who had it before is not told of the next one",
		File:    "lock/attempt.go",
		Old:     "		before.lose(cmp.Or(gone[before], ReasonGone))",
		New:     "		_ = cmp.Or(gone[before], ReasonGone)",
		Package: "lock",
		Tests:   "^TestAHolderLearnsAtOnceThatAnotherOfItsProcessHasTheLock$",
	},
	{
		Name:    "rivals wait for long before they try again",
		File:    "lock/sleep.go",
		Old:     "backoff.WithInitialInterval(5*time.Millisecond)",
		New:     "backoff.WithInitialInterval(400*time.Millisecond)",
		Package: "lock",
		Tests:   "^TestProcessesThatSplitTheVotesPauseAtRandom$",
	},
	{
		Name:    "whoever is told nothing goes on to wait for messages",
		File:    "lock/contender.go",
		Old:     "		c.untold = now.Add(poll)\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestAProcessThatCannotHearHasItsTurn$",
	},
	{
		Name:    "a key that ends by itself makes whoever waits deaf",
		File:    "lock/contender.go",
		Old:     " && now.Before(c.expires) {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestAKeyThatEndsByItselfMakesNobodyDeaf$",
	},
	{
		Name:    "a release of its own process does not wake a head that saw the hold",
		File:    "lock/wake.go",
		Old:     "ct.client.made(id) && (ct.last == nil || ct.last.holder != id) && ",
		New:     "ct.client.made(id) && ",
		Package: "lock",
		Tests:   "^TestAReleaseThatIsHeardWakesTheHead$",
	},
	{
		Name: "a holder that ends its lock by force wakes nobody",
		File: "lock/wake.go",
		Old: ` &&
		(ct.tenure == nil || ct.tenure.id != id) {`,
		New:     " {",
		Package: "lock",
		Tests:   "^TestAReleaseThatIsHeardWakesTheHead$",
	},
}
