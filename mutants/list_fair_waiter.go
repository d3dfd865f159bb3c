package main

// fairWaiterMutants are bugs in the client of a fair lock: tickets, signs of life, successors.
var fairWaiterMutants = []Mutant{
	{
		Name:    "a late yes of a refused round is kept",
		File:    "lock/ask.go",
		Old:     "outcome == refused && (yes || ticket.Final && s.differs(ticket)):",
		New:     "outcome == refused && !yes && ticket.Final && s.differs(ticket):",
		Package: "lock",
		Tests:   "^TestLateYesOfARefusedRoundIsYielded$",
	},
	{
		Name: "a final ticket grows with what nodes answer",
		File: "lock/ask.go",
		Old: `		if !q.ticket.Final {
			q.ticket.Number = max`,
		New: `		if true {
			q.ticket.Number = max`,
		Equivalent: "a node that is told a final ticket keeps the place with it, and answers with it",
	},
	{
		Name:    "who comes after the grant is served within its tenure, too",
		File:    "lock/run.go",
		Old:     "p.ticket < limit && p.opened.Before(b.Start()) {",
		New:     "p.ticket < limit {",
		Package: "lock",
		Tests:   "^TestAFairWaiterThatCameAfterTheGrantIsNotServedBeforeThoseOfOthers$",
	},
	{
		Name: "what one node says about those behind a grant is enough",
		File: "lock/run.go",
		Old: `	limit := int64(math.MaxInt64)
	for`,
		New: `	limit := int64(0)
	for`,
		More: []Edit{{
			File: "lock/run.go",
			Old:  "limit = min(limit, granted.Behind)",
			New:  "limit = max(limit, granted.Behind) + 0*int64(math.MaxInt8)",
		}},
		Package: "lock",
		Tests:   "^TestEveryNodeThatGrantsSaysWhoIsInBetween$",
	},
	{
		Name:    "a node does not see who of those behind a grant are strangers",
		File:    "lua/run.lua",
		Old:     "if string.sub(ids[i], 1, #client) ~= client then",
		New:     "if false then",
		Package: "lock",
		Tests:   "^TestFairWaitersAreServedTogetherOnlyBeforeThoseOfOthers$",
	},
	{
		Name:    "who is in the run of a tenure and has given up is passed the lock",
		File:    "lock/run.go",
		Old:     "return p.ticket == 0 || (ending{p.call.ctx}).Err() != nil || p.call.slot.held() != nil",
		New:     "return p.call.slot.held() != nil",
		Package: "lock",
		Tests:   "^TestAFairWaiterOfARunThatGivesUpIsPassedNothing$",
	},
	{
		Name:    "a fair lock is passed on for as long as waiters stand together",
		File:    "lock/pass.go",
		Old:     "	case t.due(now):",
		New:     "	case t.due(now) && ct.key.order == unordered:",
		Package: "lock",
		Tests:   "^TestARunOfFairWaitersHasABound$",
	},
	{
		Name:    "a minority's ticket is final",
		File:    "lock/ask.go",
		Old:     "q.agreed(b)+yielded >= q.engine.client.group.Quorum() {",
		New:     "q.agreed(b)+yielded >= 1 {",
		Package: "fair",
		Tests:   "^TestTicketThatOnlyAForgetfulNodeProposedPassesNobody$|^TestProcessesAreServedInTheOrderInWhichTheyCame$",
	},
	{
		Name:    "the least proposal is the ticket",
		File:    "lock/ask.go",
		Old:     "q.ticket.Number = max(q.ticket.Number, a.Ticket)",
		New:     "q.ticket.Number = a.Ticket",
		Package: "fair",
		Tests:   "^TestNodesThatProposeAnotherTicketAreToldTheFinalOne$",
	},
	{
		Name: "nodes with another ticket are not told the final one",
		File: "lock/ask.go",
		Old: `		a.finish(q.ticket)
`,
		New:     "",
		Package: "fair",
		Tests:   "^TestNodesThatProposeAnotherTicketAreToldTheFinalOne$",
	},
	{
		Name:    "a sign of life that was lost with a connection is not repeated",
		File:    "lock/heartbeats.go",
		Old:     "if ballot.Won() || errors.Is(",
		New:     "if true || ballot.Won() || errors.Is(",
		Package: "fair",
		Tests:   "^TestHeadThatReconnectsDuringTheReleaseIsNotOvertaken$",
	},
	{
		Name: "five hundred waiters give signs of life",
		File: "lock/heartbeats.go",
		Old: `	for len(ids) > 0 {
`,
		New: `	if len(ids) > 0 {
`,
		Package: "lock",
		Tests:   "^TestEveryWaiterOfACrowdGivesSignsOfLife$",
	},
	{
		Name:    "the longest heartbeat keeps all alive",
		File:    "lock/heartbeats.go",
		Old:     "q.engine.set.beat < b.engine.set.beat",
		New:     "q.engine.set.beat > b.engine.set.beat",
		Package: "lock",
		Tests:   "^TestShortestHeartbeatKeepsAllWaitersOfAProcessAlive$",
	},
	{
		Name:    "nobody looks unless told",
		File:    "lock/heartbeats.go",
		Old:     "if p.asked.Before(long) {",
		New:     "if p.asked.Before(long) && false {",
		Package: "lock",
		Tests:   "^TestWaiterThatIsToldNothingLooksNowAndThen$",
	},
	{
		Name:    "who is told to ask does not",
		File:    "lock/heartbeats.go",
		Old:     "!p.asked.After(sent) {",
		New:     "p.asked.After(sent) {",
		Package: "lock",
		Tests:   "^TestLostWakeUpOfTheHeadCostsNoMoreThanASignOfLife$",
	},
	{
		Name:    "a successor does not hurry",
		File:    "lock/successor.go",
		Old:     "if !i.open || i.tries == hurries {",
		New:     "if i.tries <= hurries {",
		Package: "lock",
		Tests:   "^TestHeirAsksAgainIfTheHeadLeftBetweenItsRequestAndTheRelease$",
	},
	{
		Name: "a silent node is no reason to hurry",
		File: "lock/successor.go",
		Old: `	return turn && silent
`,
		New: `	return turn && silent && false
`,
		Package: "lock",
		Tests:   "^TestHeirAsksAgainIfANodeWasSlowAndAStrangerAheadOnAnother$",
	},
	{
		Name: "a waiter that is cancelled stays in the queue",
		File: "lock/queuer.go",
		Old: `		q.tenure.giveBack(true)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestCancelledWaiterLeavesAtOnce$",
	},
	{
		Name:    "the head does not wait for the holder's end",
		File:    "lock/queuer.go",
		Old:     "case q.next && d.ttl > 0:",
		New:     "case q.next && d.ttl < 0:",
		Package: "lock",
		Tests:   "^TestHeadLooksWhenACrashedHoldersKeyEnds$",
	},
	{
		Name:    "a waiter lives for twice its heartbeat",
		File:    "lock/setting.go",
		Old:     "return s.beat * 3 / 4",
		New:     "return s.beat * 2",
		Package: "lock",
		Tests:   "^TestWaiterThatIsCutOffIsDroppedAfterItsHeartbeat$",
	},
	{
		Name:    "signs of life are as rare as heartbeats",
		File:    "lock/setting.go",
		Old:     "return s.beat / 4",
		New:     "return s.beat",
		Package: "lock",
		Tests:   "^TestLostWakeUpOfTheHeadCostsNoMoreThanASignOfLife$|^TestWaiterToWhomNothingIsEverToldWaitsNoLongerThanASignOfLife$",
	},
	{
		Name: "nobody looks after connections broke",
		File: "lock/hear.go",
		Old: `				c.watchdog.Set(&ct.heartbeats.ward, time.Now(), time.Time{})
`,
		New: `				_, _ = ct, time.Now
`,
		Package: "lock",
		Tests:   "^TestWakeUpThatCameWithoutAConnectionCostsNoSignOfLife$",
	},
}
