package main

// lockTurnMutants are bugs in whose turn it is within a process.
var lockTurnMutants = []Mutant{
	{
		Name:    "what stays taken has ended",
		File:    "lock/contest.go",
		Old:     "c.made(id) && !strings.HasSuffix(id, lua.Lingers) && !c",
		New:     "c.made(id) && (!strings.HasSuffix(id, lua.Lingers) || true) && !c",
		Package: "lock",
		Tests:   "^TestWhatStaysTakenHasNotEnded$",
	},
	{
		Name: "a reader ends what others read",
		File: "lock/contest.go",
		Old: `	if !t.reads {
		gone`,
		New: `	{
		gone`,
		Package: "lock",
		Tests:   "^TestAGrantEndsWhatTheNodesCannotHaveAnyMore$",
	},
	{
		Name: "a process forgets the tokens of its permits",
		File: "lock/contest.go",
		Old: `		r.token = max(r.token, t.first.token)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAProcessCountsItsPermits$",
	},
	{
		Name: "permits that have ended count",
		File: "lock/contest.go",
		Old: `		r.slots -= t.engine.wants
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAProcessCountsItsPermits$",
	},
	{
		Name:    "who asks is passed the lock",
		File:    "lock/pass.go",
		Old:     "!p.attempts && (",
		New:     "(",
		Package: "lock",
		Tests:   "^TestWhoNeedsNoTurnIsPassedNothing$",
	},
	{
		Name:    "who has the lock is passed it",
		File:    "lock/pass.go",
		Old:     " && c.slot.held() == nil {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestWhoNeedsNoTurnIsPassedNothing$",
	},
	{
		Name: "a lease that is passed on is not renewed",
		File: "lock/pass.go",
		Old: `	h.slot.set(h)
	t.schedule()
`,
		New: `	h.slot.set(h)
`,
		Package: "lock",
		Tests:   "^TestALeaseThatFollowsOneWhoseRenewalsHaveEndedIsRenewed$",
	},
	{
		Name:    "the last node says who is in between",
		File:    "lock/run.go",
		Old:     "limit = min(limit, granted.Behind)",
		New:     "limit = max(0, granted.Behind)",
		Package: "lock",
		Tests:   "^TestAnyNodeThatGrantsSaysWhoIsInBetween$",
	},
	{
		Name: "those that were served leave when the first of them was",
		File: "lock/run.go",
		Old: `	default:
		r.dismissal.Reset(maxServed)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestThoseThatWereServedLeaveTogetherThoughTheFirstOfThemWasServedLongAgo$",
	},
	{
		Name:    "tokens that nodes refuse are asked for again and again",
		File:    "lock/relay.go",
		Old:     "absent || !refused || t.refusals >= maxRefusals",
		New:     "absent || t.refusals >= maxRefusals",
		Package: "lock",
		Tests:   "^TestTokensThatNodesRefuseAreAskedForOnce$",
	},
	{
		Name:    "a waiter waits for tokens that others are granted",
		File:    "lock/relay.go",
		Old:     "absent || !refused || t.refusals >= maxRefusals",
		New:     "absent || !refused",
		Package: "lock",
		Tests:   "^TestAWaiterDoesNotWaitForTokensThatOthersAreGrantedEachTime$",
	},
	{
		Name:    "nodes that are silent have granted the tokens to others",
		File:    "lock/relay.go",
		Old:     "refused || !r.Alone",
		New:     "true",
		Package: "lock",
		Tests:   "^TestSilentNodesAreAskedForTokensOfPermitsOnce$",
	},
	{
		Name:    "a permit that no quorum has is passed on until it is lost",
		File:    "lock/relay.go",
		Old:     "absent || !refused || t.refusals >= maxRefusals",
		New:     "!absent && (!refused || t.refusals >= maxRefusals)",
		Package: "lock",
		Tests:   "^TestAPermitThatNoQuorumHasIsNotPassedOn$",
	},
	{
		Name:    "a waiter for permits waits for a place",
		File:    "lock/relay.go",
		Old:     "now.Sub(r.passed) < lively && !r.pause(now) &&",
		New:     "now.Sub(r.passed) < lively &&",
		Package: "lock",
		Tests:   "^TestWhoWaitsForAPermitTakesAPlaceInTime$",
	},
	{
		Name: "nodes that have not heard of reading write on",
		File: "lock/carry.go",
		Old: `		if judge(g, b, false) != confirmed {
			t.renewNow()
		}
`,
		New:     "",
		Package: "readwrite",
		Tests:   "^TestNodesThatDidNotHearThatATenureReadsAreToldAgainSoon$",
	},
	{
		Name: "who has heard the nodes is in the way",
		File: "lock/carry.go",
		Old: `p.attempts, p.starting, p.granted = false, false, false
	p.contest.advance()`,
		New:     "p.attempts, p.starting, p.granted = false, false, false",
		Package: "lock",
		Tests:   "^TestWhoHasHeardTheNodesIsInNobodysWay$",
	},
	{
		Name: "who has heard the nodes gives no signs of life",
		File: "lock/carry.go",
		Old: `	c.mu.Unlock()
	p.contest.attend()
`,
		New: `	c.mu.Unlock()
`,
		Package: "lock",
		Tests:   "^TestWhoHasHeardTheNodesIsInNobodysWay$",
	},
	{
		Name:    "other settings are joined",
		File:    "lock/join.go",
		Old:     "|| now.Sub(j.heard) >= maxUnheard || !t.suits(&e.set, now) {",
		New:     "|| now.Sub(j.heard) >= maxUnheard {",
		Package: "lock",
		Tests:   "^TestWhoJoinsIsInNobodysWay$",
	},
	{
		Name:    "a client that ends begins with another hold",
		File:    "lock/join.go",
		Old:     "ct.tenure != nil && !c.drains() {",
		New:     "ct.tenure != nil {",
		Package: "lock",
		Tests:   "^TestNobodyBeginsWithinATenureOfAClientThatEnds$",
	},
	{
		Name:    "a client that ends is joined",
		File:    "lock/join.go",
		Old:     "len(ct.reads) == 0 || c.drains() || ",
		New:     "len(ct.reads) == 0 || ",
		Package: "lock",
		Tests:   "^TestWhoJoinsIsInNobodysWay$",
	},
	{
		Name: "a turn begins before the one before is settled",
		File: "lock/serve.go",
		Old: `	t.settle(now)
	writes`,
		New:     "\twrites",
		Package: "lock",
		Tests:   "^TestTurnsWithinATenureThatWrites$",
	},
	{
		Name:    "a tenure that another has replaced goes on",
		File:    "lock/serve.go",
		Old:     "case usurped && len(t.present) > 0:",
		New:     "case false:",
		Package: "lock",
		Tests:   "^TestTurnsWithinATenureThatWrites$",
	},
	{
		Name:    "a node on which a tenure reads confirms tokens to write",
		File:    "lock/serve.go",
		Old:     "return err == nil && !r.Gone && !r.Reads, err",
		New:     "return err == nil && !r.Gone, err",
		Package: "lock",
		Tests:   "^TestANodeOnWhichATenureReadsConfirmsNoTokens$",
	},
	{
		Name:    "the oldest mark counts",
		File:    "lock/far.go",
		Old:     "!found || newer(m.ID, before.ID)",
		New:     "!found || !newer(m.ID, before.ID)",
		Package: "lock",
		Tests:   "^TestTheNewestMarkOfEachOtherClientCounts$",
	},
	{
		Name: "a process is far from itself",
		File: "lock/far.go",
		Old: `		if client == own {
			continue
		}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestTheNewestMarkOfEachOtherClientCounts$",
	},
	{
		Name:    "the way to the nodes is not counted",
		File:    "lock/elsewhere.go",
		Old:     "ct.elsewhere.waits, ct.elsewhere.trip = true, time.Since(asked)",
		New:     "ct.elsewhere.waits = true",
		Package: "lock",
		Tests:   "^TestTheOthersChanceIsLongerByTheWayToTheNodes$",
	},
}
