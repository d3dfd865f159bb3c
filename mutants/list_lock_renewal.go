package main

// lockRenewalMutants are bugs in a hold and its renewals.
var lockRenewalMutants = []Mutant{
	{
		Name: "what has not left is sent for who has given up",
		File: "lock/vacate.go",
		Old: `	t.footprint.Close()
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAttemptThatIsGivenUpBeforeItHasLeftNeverLeaves$",
	},
	{
		Name:    "renewals move in step",
		File:    "lock/tenure.go",
		Old:     "return third - rand.N(third/8+1)",
		New:     "return third",
		Package: "lock",
		Tests:   "^TestWatchdogRenewsForADay$",
	},
	{
		Name:    "renewals come at half of the TTL",
		File:    "lock/tenure.go",
		Old:     "third := t.ttl / 3",
		New:     "third := t.ttl / 2",
		Package: "lock",
		Tests:   "^TestWatchdogRenewsForADay$",
	},
	{
		Name: "what is left of a lost hold is kept",
		File: "lock/loss.go",
		Old: `	} else {
		t.vacate(false)
	}
	c.allLost(lost)`,
		New: `	}
	c.allLost(lost)`,
		Package: "lock",
		Tests:   "^TestLeaseIsLostAtItsDeadlineWhenAMinorityAnswers$",
	},
	{
		Name:    "a release is repeated for the hold's TTL only",
		File:    "lock/vacate.go",
		Old:     "max(t.ttl, t.longest)",
		New:     "t.ttl",
		Package: "lock",
		Tests:   "^TestReleaseIsRepeatedForAsLongAsAnyTTLThatWasAskedFor$",
	},
	{
		Name:    "a lease goes on for a second when it is over",
		File:    "lock/tenure.go",
		Old:     "			next.endAt = l.deadline\n",
		New:     "			next.endAt = l.deadline.Add(time.Second)\n",
		Package: "lock",
		Tests:   "^TestLeaseIsLostAtItsDeadlineWhenNoNodeAnswers$",
	},
	{
		Name:    "a minority confirms a renewal",
		File:    "lock/renew.go",
		Old:     "!t.ended && found == confirmed",
		New:     "!t.ended && found != gone",
		Package: "lock",
		Tests:   "^TestLeaseIsLostAtItsDeadlineWhenAMinorityAnswers$",
	},
	{
		Name:    "a renewal shortens what was extended",
		File:    "lock/renew.go",
		Old:     " && validity.After(l.deadline) {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestRenewalDoesNotShortenWhatExtendHasGiven$",
	},
	{
		Name:    "a renewal that failed is tried again a third later",
		File:    "lock/renew.go",
		Old:     "min(max(r.ttl/30, 20*time.Millisecond), time.Second)",
		New:     "r.ttl/3",
		Package: "lock",
		Tests:   "^TestRenewalIsTriedAgainSoonButNotInALoop$",
	},
	{
		Name:    "nodes that are free decide before others have answered",
		File:    "lock/verdict.go",
		Old:     "		return errFree\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestHolderThatAnswersLastIsHeard$",
	},
	{
		Name:    "a loss is not noticed",
		File:    "lock/renew.go",
		Old:     "found := judge(g, b, r.restored)",
		New:     "found := judge(g, b, r.restored) % gone",
		Package: "lock",
		Tests:   "^TestQuorumThatForgotTheLockIsALossAtTheNextRenewal$",
	},
	{
		Name:    "nodes are repaired before a quorum has confirmed",
		File:    "lock/renew.go",
		Old:     "confirmed := r.confirmed",
		New:     "confirmed := true || r.confirmed",
		Package: "lock",
		Tests:   "^TestForgetfulAndSilentNodesTogetherAreNotYetALoss$",
	},
	{
		Name:    "forgetful nodes are not repaired",
		File:    "lock/renew.go",
		Old:     "extended != lua.ExtendFree {",
		New:     "extended == lua.ExtendFree {",
		Package: "lock",
		Tests:   "^TestNodeThatForgotTheLockIsRepairedAndCountsAgain$",
	},
	{
		Name:    "a renewal's validity counts from the answer",
		File:    "lock/renew.go",
		Old:     "g.Validity(b.Start(), r.ttl)",
		New:     "g.Validity(time.Now(), r.ttl)",
		Package: "lock",
		Tests:   "^TestValidityCountsFromTheStartOfEachAttempt$",
	},
	{
		Name: "a failed round is blamed for a later end",
		File: "lock/renew.go",
		Old: `		t.last = nil
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestRoundThatFailedOnceIsNotWhatAnUnfinishedOneCameTo$",
	},
	{
		Name:    "the next renewal counts from the answer",
		File:    "lock/renew.go",
		Old:     "t.renewAt = b.Start().Add(t.beat())",
		New:     "t.renewAt = now.Add(t.beat())",
		Package: "lock",
		Tests:   "^TestNodesThatAreSlowAreAskedAsOften$",
	},
}
