package main

// lockHandoverMutants are bugs in how a lock passes from a holder to the next.
var lockHandoverMutants = []Mutant{
	{
		Name:    "others are told of each hand-over",
		File:    "lock/handover.go",
		Old:     "quiet := s.next == local && !s.tell",
		New:     "quiet := false && !s.tell",
		Package: "lock",
		Tests:   "^TestHandOversInsideAProcessWakeNobodyElse$",
	},
	{
		Name:    "who gives up tells nobody",
		File:    "lock/handover.go",
		Old:     "if !ct.hushed || ct.holder != nil {",
		New:     "if ct != nil {",
		Package: "lock",
		Tests:   "^TestWhoWasToHaveTheLockAndGivesUpTellsOtherProcesses$",
	},
	{
		Name:    "a process keeps the lock to itself",
		File:    "lock/handover.go",
		Old:     "(ct.streak >= maxStreak || now-ct.since >= maxReign.Milliseconds())",
		New:     "false",
		Package: "lock",
		Tests:   "^TestAProcessThatHoldsALockForLongTellsTheOthersOfEachRelease$",
	},
	{
		Name:    "a process that is alone waits for others",
		File:    "lock/handover.go",
		Old:     "!ct.lonely || now-ct.chance",
		New:     "true || now-ct.chance",
		Package: "lock",
		Tests:   "^TestAProcessThatIsAloneWaitsForNobody$",
	},
	{
		Name:    "who only polls has no chance",
		File:    "lock/handover.go",
		Old:     "(!ct.lonely || now-ct.chance >= poll.Milliseconds())",
		New:     "!ct.lonely",
		Package: "lock",
		Tests:   "^TestAProcessThatSeemsAloneLeavesAChanceNowAndThen$",
	},
	{
		Name: "the next one of the process waits for a poll",
		File: "lock/handover.go",
		Old: `	case o == nil || len(ct.queue) > 0 && ct.queue[0].order != o:
`,
		New: `	case false:
`,
		Package: "lock",
		Tests:   "^TestLossOfALeaseLetsTheNextOneOfItsProcessTryAtOnce$",
	},
	{
		Name:    "a chance that nobody takes costs a poll",
		File:    "lock/handover.go",
		Old:     "time.AfterFunc(fairChance, func() {",
		New:     "time.AfterFunc(poll, func() {",
		Package: "lock",
		Tests:   "^TestAChanceThatNobodyIsToldOfIsAMoment$",
	},
	{
		Name:    "who comes to a process that was alone waits for its chance",
		File:    "lock/handover.go",
		Old:     "	if before && !ct.lonely {",
		New:     "	if false && before {",
		Package: "lock",
		Tests:   "^TestWhoComesToAProcessThatWasAloneHasAChance$",
	},
}
