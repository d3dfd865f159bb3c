package main

// lockLeaseMutants are bugs in leases and their contexts.
var lockLeaseMutants = []Mutant{
	{
		Name:    "Lease.Err does not look at the clock",
		File:    "lock/loss.go",
		Old:     "l.reason == ReasonNone && !time.Now().Before(l.deadline) {",
		New:     "false {",
		Package: "lock",
		Tests:   "^TestPausedProcessLearnsOfItsLossFromItsFirstCall$",
	},
	{
		Name:    "an extension shortens",
		File:    "lock/extend.go",
		Old:     "l.valid(time.Now()) && validity.After(l.deadline)",
		New:     "l.valid(time.Now())",
		Package: "lock",
		Tests:   "^TestExtendNeverShortens$",
	},
	{
		Name:    "an extension that comes too late is one",
		File:    "lock/extend.go",
		Old:     "	if err := l.Err(); err != nil { // the old",
		New:     "	if err := error(nil); err != nil { // the old",
		Package: "lock",
		Tests:   "^TestExtensionConfirmedAfterTheOldDeadlineIsNone$",
	},
	{
		Name: "an extension by a minority is one",
		File: "lock/extend.go",
		Old: `	case undecided:
		return validity, b.Err()`,
		New: `	case restorable:
		return validity, b.Err()`,
		Package: "lock",
		Tests:   "^TestExtendWithoutAQuorumMayBeTriedAgain$",
	},
	{
		Name:    "a max hold is none",
		File:    "lock/lease.go",
		Old:     "now.Before(*l.renewUntil)",
		New:     "!now.IsZero()",
		Package: "lock",
		Tests:   "^TestMaxHoldStopsRenewalForGood$",
	},
	{
		Name: "fixed leases are renewed",
		File: "lock/lease.go",
		Old: `	return l.renew &&
		(l.renewUntil`,
		New:     "	return (l.renewUntil",
		Package: "lock",
		Tests:   "^TestWithoutWatchdogALeaseEndsAfterItsTTL$",
	},
	{
		Name:    "Unlock ends with its context",
		File:    "lock/ending.go",
		Old:     "		return context.WithoutCancel(ctx)",
		New:     "		return ctx",
		Package: "lock",
		Tests:   "^TestUnlockUnderADoneContextIsARelease$",
	},
	{
		Name:    "the count is never told",
		File:    "lock/tenure.go",
		Old:     "return max(n, 1)",
		New:     "return 1",
		Package: "lock",
		Tests:   "^TestNodesLearnOfTheCountWithTheNextRenewal$",
	},
	{
		Name: "a re-entry that asks misses a loss",
		File: "lock/extend.go",
		Old: `	case gone:
`,
		New: `	case restorable:
`,
		Package: "lock",
		Tests:   "^TestReentryThatAsksFinds",
	},
	{
		Name: "an inner Unlock waits for its turn",
		File: "lock/unlock.go",
		Old: `	inner := len(h.leases) > 0
`,
		New: `	inner := false
`,
		Package: "lock",
		Tests:   "^TestUnlockOfAnInnerLeaseWaitsForNoTurn$",
	},
	{
		Name:    "the error of a context does not look at the clock",
		File:    "lock/context.go",
		Old:     "if err := s.lease.Err(); err != nil {",
		New:     "if err := s.Context.Err(); err != nil {",
		Package: "lock",
		Tests:   "^TestPausedProcessLearnsOfItsLossFromItsFirstCall$/^Context.Err$",
	},
	{
		Name: "work finds its outermost lease",
		File: "lock/context.go",
		Old: `	case leaseKey:
		return s.lease
`,
		New: `	case leaseKey:
		if outer := s.parent.Value(key); outer != nil {
			return outer
		}
		return s.lease
`,
		Package: "lock",
		Tests:   "^TestWorkFindsItsInnermostLease$",
	},
	{
		Name: "a lease that is unlocked twice settles another",
		File: "lock/unlock.go",
		Old: `	if !again {
		l.unlocked = true`,
		New: `	if true || again {
		l.unlocked = true`,
		Package: "lock",
		Tests:   "^TestALostLeaseIsSettledByItsOwnUnlock$",
	},
	{
		Name: "a parent that comes later changes nothing",
		File: "lock/context.go",
		Old: `	if abandoned {
		h.schedule()`,
		New: `	if false && abandoned {
		h.schedule()`,
		Package: "lock",
		Tests:   "^TestParentThatComesLaterHasItRenewedAgain$",
	},
	{
		Name:    "a limit that is far away is the reason",
		File:    "lock/lease.go",
		Old:     "case l.renewUntil != nil && !l.deadline.Before(*l.renewUntil):",
		New:     "case l.renewUntil != nil:",
		Package: "lock",
		Tests:   "^TestAMaxHoldThatIsNotOverIsNoReason$",
	},
	{
		Name:    "a re-entry has the name of the hold",
		File:    "lock/hold.go",
		Old:     "l.aliased = e.name != h.by.name",
		New:     "l.aliased = false",
		Package: "lock",
		Tests:   "^TestReentryByTheOtherNameHasThatName$",
	},
	{
		Name:    "the other name is the one in braces",
		File:    "lock/engine.go",
		Old:     `len(":"):]; braced != e.name {`,
		New:     `len(":"):]; true {`,
		Package: "lock",
		Tests:   "^TestReentryByTheOtherNameHasThatName$",
	},
	{
		Name:    "a lease that was passed on has the name of the first one",
		File:    "lock/lease.go",
		Old:     "return l.hold.by.name",
		New:     "return l.hold.engine.name",
		Package: "lock",
		Tests:   "^TestHoldThatFollowsByTheOtherNameHasThatName$",
	},
	{
		Name:    "the error of a lease that was passed on has the name of the first one",
		File:    "lock/failure.go",
		Old:     "Name: h.by.name, Hold: h.name(), Err: reason.end()",
		New:     "Name: h.engine.name, Hold: h.name(), Err: reason.end()",
		Package: "lock",
		Tests:   "^TestHoldThatFollowsByTheOtherNameHasThatName$",
	},
	{
		Name:    "a failure has the reason of another hold",
		File:    "lock/failure.go",
		Old:     " && e.Hold == h.name() {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestAnOperationUnderTheContextOfALostLeaseFailsForItsOwn$",
	},
	{
		Name: "a max hold counts from the beginning of the hold",
		File: "lock/hold.go",
		Old:  "until := start.Add(set.maxHold)",
		New: `until := start.Add(set.maxHold)
		if !h.began.IsZero() {
			until = h.began.Add(set.maxHold)
		}`,
		Package: "lock",
		Tests:   "^TestMaxHoldOfOneLeaseDoesNotConcernTheOthersOfItsHold$",
	},
}
