package main

// lockRestoreMutants are bugs in how a hold outlives nodes that have lost it.
var lockRestoreMutants = []Mutant{
	{
		Name:    "a loss needs fewer nodes",
		File:    "lock/restore.go",
		Old:     "case free+refuse > most:",
		New:     "case free+refuse >= most:",
		Package: "lock",
		Tests:   "^TestForgetfulAndSilentNodesTogetherAreNotYetALoss$",
	},
	{
		Name:    "a silent node has forgotten",
		File:    "lock/restore.go",
		Old:     "case a.Vote == redlock.Pending || err != nil:",
		New:     "case a.Vote == redlock.Pending || err != nil:\n\t\t\trefuse++",
		Package: "lock",
		Tests:   "^TestForgetfulAndSilentNodesTogetherAreNotYetALoss$",
	},
	{
		Name:    "nodes that are free are not asked to vouch",
		File:    "lock/restore.go",
		Old:     "case !restored && has > 0",
		New:     "case false && has > 0",
		Package: "lock",
		Tests:   "^TestHoldOfABareQuorumOutlivesOneOfItsNodes$",
	},
	{
		Name:    "a hold that was deleted everywhere is restored",
		File:    "lock/restore.go",
		Old:     "case !restored && has > 0 && free > 0",
		New:     "case !restored && free > 0",
		Package: "lock",
		Tests:   "^TestHoldThatIsDeletedEverywhereIsNotRestored$",
	},
	{
		Name:    "half of an even number of nodes is no loss",
		File:    "lock/restore.go",
		Old:     "case free+refuse > most:",
		New:     "case free+refuse >= g.Quorum():",
		Package: "lock",
		Tests:   "^TestSoManyForgetfulNodes",
	},
	{
		Name:    "a node that is back is not noticed",
		File:    "lock/recovery.go",
		Old:     "	if c != nil && begins {",
		New:     "	if _ = begins; false {",
		Package: "lock",
		Tests:   "^TestNodesThatComeBackEmptyOneAfterTheOtherCostNoLease$",
	},
	{
		Name:    "all holds are given back at once",
		File:    "lock/recovery.go",
		Old:     "recoveryStep  = 250",
		New:     "recoveryStep  = 100000",
		Package: "lock",
		Tests:   "^TestManyHoldsAreGivenBackOneAfterTheOther$",
	},
	{
		Name: "only some holds are given back",
		File: "lock/recovery.go",
		Old: `	r.running = r.again || len(r.holds) > 0
`,
		New: `	r.running = r.again
`,
		Package: "lock",
		Tests:   "^TestManyHoldsAreGivenBackOneAfterTheOther$",
	},
}
