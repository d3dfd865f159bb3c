package main

// lockOverMutants are bugs in what follows when a tenure is over, or is not known to all nodes.
var lockOverMutants = []Mutant{
	{
		Name:    "a chance that was replaced ends the next one",
		File:    "lock/wake.go",
		Old:     "if ct.later != timer {",
		New:     "if ct.later == nil {",
		Package: "lock",
		Tests:   "^TestAChanceLastsThoughTheOneBeforeEndsMeanwhile$",
	},
	{
		Name: "a name is kept when the others have had their chance",
		File: "lock/wake.go",
		Old: `		ct.wakeHead(look)
		ct.tidy()
`,
		New: `		ct.wakeHead(look)
`,
		Package: "lock",
		Tests:   "^TestANameIsForgottenWhenTheOthersHaveHadTheirChance$",
	},
	{
		Name: "a tenure that is gone counts as held",
		File: "lock/over.go",
		Old: `		ct.leaves()
		c.held--
`,
		New: `		ct.leaves()
`,
		Package: "lock",
		Tests:   "^TestAGrantEndsWhatTheNodesCannotHaveAnyMore$",
	},
	{
		Name: "permits that are gone count",
		File: "lock/over.go",
		Old: `		ct.relay.reset()
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAProcessCountsItsPermits$",
	},
	{
		Name: "readers that are gone may be joined",
		File: "lock/over.go",
		Old: `			delete(c.shared, before.id)
`,
		New: `			_ = before
`,
		Package: "lock",
		Tests:   "^TestAGrantEndsWhatTheNodesCannotHaveAnyMore$",
	},
	{
		Name: "a tenure that ends wakes no successor",
		File: "lock/over.go",
		Old: `	if successor == nil {
		ct.successor().succeed()
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestTheSuccessorIsWokenWhenATenureIsOver$",
	},
	{
		Name:    "the last in the queue is the successor",
		File:    "lock/over.go",
		Old:     "p.id < first.id)",
		New:     "p.id > first.id)",
		Package: "lock",
		Tests:   "^TestTheSuccessorIsFirstInTheQueues$",
	},
	{
		Name: "a name that nobody waits for gives signs of life",
		File: "lock/tidy.go",
		Old: `		ct.heartbeats = nil
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestWhatNobodyNeedsIsDropped$",
	},
	{
		Name:    "a name that is read is dropped",
		File:    "lock/tidy.go",
		Old:     "ct.tenure != nil || len(ct.reads) > 0 {",
		New:     "ct.tenure != nil {",
		Package: "lock",
		Tests:   "^TestWhatNobodyNeedsIsDropped$",
	},
	{
		Name:    "a tenure that has ended is repaired",
		File:    "lock/repair.go",
		Old:     "if missing == nil || ended {",
		New:     "if _ = ended; missing == nil {",
		Package: "lock",
		Tests:   "^TestATenureThatHasEndedIsLeftAlone$",
	},
	{
		Name: "what is restored has no round",
		File: "lock/restore.go",
		Old: `		Round:  t.round,
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestWhatIsAskedToRestoreAHold$",
	},
	{
		Name:    "a restoration counts from its answer",
		File:    "lock/restore.go",
		Old:     "time.Since(since)+g.NodeTimeout()",
		New:     "time.Since(since)+0*g.NodeTimeout()",
		Package: "lock",
		Tests:   "^TestWhatIsAskedToRestoreAHold$",
	},
	{
		Name:    "a release that is made again is quiet",
		File:    "lock/vacate.go",
		Old:     "quiet && !again, t.voids(mark), again",
		New:     "quiet, t.voids(mark), again",
		Package: "lock",
		Tests:   "^TestAReleaseThatIsMadeAgainTellsTheNextOne$",
	},
	{
		Name: "a removal ends before the key",
		File: "lock/vacate.go",
		Old: `		if outlives.After(until) {
			until = outlives
		}
`,
		New: `		_ = outlives
`,
		Package: "lock",
		Tests:   "^TestARemovalIsSentForAsLongAsANodeMayHaveTheKey$",
	},
	{
		Name:    "a removal counts on the TTL of the setting",
		File:    "lock/vacate.go",
		Old:     "max(set.extended(max(t.ttl, t.longest)), set.granted())",
		New:     "set.granted()",
		Package: "lock",
		Tests:   "^TestARemovalIsSentForAsLongAsANodeMayHaveTheKey$",
	},
	{
		Name:    "a tenure that has ended is mended",
		File:    "lock/recovery.go",
		Old:     "return t.mending && !t.ended",
		New:     "return t.mending",
		Package: "lock",
		Tests:   "^TestATenureThatHasEndedIsLeftAlone$",
	},
	{
		Name: "a tenure that has ended is probed",
		File: "lock/probe.go",
		Old: `		if !t.goesOn() {
			continue
		}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestATenureThatHasEndedIsLeftAlone$",
	},
	{
		Name: "a claim of permits is prompt",
		File: "lock/trial.go",
		Old: `	if t.engine.numbered != nil {
		return false
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAClaimOfPermitsIsNotPrompt$",
	},
	{
		Name:    "tries together keep what a minority granted",
		File:    "lock/trial.go",
		Old:     "return !t.footprint.Present()",
		New:     "return true",
		Package: "lock",
		Tests:   "^TestTriesTogetherGiveBackWhatAMinorityHasGrantedTogether$",
	},
	{
		Name:    "a try of a lost hold says nothing of its lock",
		File:    "lock/trial.go",
		Old:     "_, err = t.outcome(false, l, d, err)",
		New:     "_ = d",
		Package: "lock",
		Tests:   "^TestATryTogetherOfALostHoldSaysWhichLockItIsAbout$",
	},
}
