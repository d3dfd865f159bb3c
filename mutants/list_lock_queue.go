package main

// lockQueueMutants are bugs in waiting for a turn on the nodes.
var lockQueueMutants = []Mutant{
	{
		Name:    "who may not queue waits for the right to",
		File:    "lock/queue.go",
		Old:     "accepted() bool { return q.ticket.Final }",
		New:     "accepted() bool { return true }",
		Package: "lock",
		Tests:   "^TestALockEndsThatMayNotQueue$",
	},
	{
		Name:    "a waiter ends that nodes refuse for a while",
		File:    "lock/acquire.go",
		Old:     "case d.final && !a.mayPass(d), ",
		New:     "case d.final, ",
		Package: "lock",
		Tests:   "^TestALockWaitsOnThoughNodesRefuseItForAWhile$",
	},
	{
		Name:    "a waiter waits on whose connections are closed",
		File:    "lock/acquire.go",
		Old:     " || errors.Is(d.err, redis.ErrClosed) {",
		New:     " || redis.ErrClosed == nil {",
		Package: "lock",
		Tests:   "^TestALockEndsWhoseRedisClientsAreClosed$",
	},
	{
		Name:    "one that is renamed is followed past a writer",
		File:    "lock/ask.go",
		Old:     "	p.id, p.closed = renamed.id, true",
		New:     "	p.id = renamed.id",
		Package: "lock",
		Tests:   "^TestNobodyFollowsOneThatIsRenamed$",
	},
	{
		Name: "a head looks for whatever was told last",
		File: "lock/queue.go",
		Old: `in := func(d time.Duration) {
		if d > 0 {
			pause, looks = min(pause, d), true`,
		New: `in := func(d time.Duration) {
		if d > 0 {
			pause, looks = d, true`,
		Package: "lock",
		Tests:   "^TestAHeadLooksForWhatComesFirst$",
	},
	{
		Name: "who is passed the lock keeps its room to ask",
		File: "lock/queue.go",
		Old: `if l != nil {
		q.exit()
`,
		New: `if l != nil {
`,
		Package: "lock",
		Tests:   "^TestWhoIsPassedTheLockGivesItsRoomBack$",
	},
	{
		Name: "who gives up keeps its room to ask",
		File: "lock/queue.go",
		Old: `	q.exit()
	if q.place != nil {`,
		New:     "\tif q.place != nil {",
		Package: "lock",
		Tests:   "^TestWhoGivesUpBeforeItAsksGivesItsRoomBack$",
	},
	{
		Name: "a waiter that has left is signed for",
		File: "lock/queue.go",
		Old: `		q.engine.client.unqueue(q.tenure.id)
		if q.place.passed()`,
		New:     "\t\tif q.place.passed()",
		Package: "lock",
		Tests:   "^TestAClientForgetsWhoWaitsNoMore$",
	},
	{
		Name:    "a place is left to one that has given up",
		File:    "lock/queue.go",
		Old:     "f.leader == p && (ending{f.call.ctx}).Err() == nil",
		New:     "f.leader == p",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name:    "an inherited place is young",
		File:    "lock/queue.go",
		Old:     "\tf.opened, f.closed = p.opened, p.closed\n\tf.id",
		New:     "\tf.opened, f.closed = time.Now(), p.closed\n\tf.id",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name: "followers follow one that has left",
		File: "lock/queue.go",
		Old: `		if other.leader == p {
			other.follow(f)
`,
		New: `		if other.leader == p {
`,
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name: "who inherits a place sleeps on",
		File: "lock/queue.go",
		Old: `	f.stir(true)
	return true`,
		New:     "\treturn true",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name:    "an inherited place begins anew with its rounds",
		File:    "lock/queue.go",
		Old:     "ticket: q.ticket, round: q.round}",
		New:     "ticket: q.ticket}",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name:    "an inherited place has no ticket",
		File:    "lock/queue.go",
		Old:     "f.id, f.ticket, f.asked = p.id, p.ticket, p.asked",
		New:     "f.id, f.asked = p.id, p.asked",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name: "a late refusal keeps its place in the queue",
		File: "lock/ask.go",
		Old: `		a.tenure.refused()
		a.settle([]int{node})
`,
		New: `		a.tenure.refused()
`,
		Package: "lock",
		Tests:   "^TestANodeThatRefusesAWaiterThatIsGrantedTheLockHasTheHoldSoonAfter$",
	},
	{
		Name: "a node that failed meanwhile does not get the hold",
		File: "lock/ask.go",
		Old: `if outcome == granted {
		a.tenure.missed(node, answer, down)
`,
		New: `if outcome == granted && down {
		a.tenure.missed(node, answer, down)
`,
		Package: "lock",
		Tests:   "^TestANodeThatFailsAsAWaiterIsGrantedTheLockHasTheHoldSoonAfter$",
	},
	{
		Name: "a node that was not heard does not get the hold",
		File: "lock/ask.go",
		Old: `		if untold {
			a.tenure.lacks(true)
		}
`,
		New: `		_ = untold
`,
		Package: "lock",
		Tests:   "^TestANodeThatFailsAsAWaiterIsGrantedTheLockHasTheHoldSoonAfter$",
	},
	{
		Name: "a waiter that has been granted the lock is signed for",
		File: "lock/ask.go",
		Old: `			q.engine.client.unqueue(t.id)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAClientForgetsWhoWaitsNoMore$",
	},
	{
		Name: "who asks is woken for what it has heard",
		File: "lock/successor.go",
		Old: `	select {
	case <-p.wake: // whatever the reason was, it looks now
	default:
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestWhoAsksHasHeardWhatItWasToldUntilThen$",
	},
	{
		Name:    "what has woken a waiter wakes it again",
		File:    "lock/successor.go",
		Old:     "causes, p.causes = p.causes, nil",
		New:     "causes = p.causes",
		Package: "lock",
		Tests:   "^TestWhoAsksHasHeardWhatItWasToldUntilThen$",
	},
	{
		Name:    "who asks is told to ask",
		File:    "lock/heartbeats.go",
		Old:     "p != nil && need && !p.attempts && !p",
		New:     "p != nil && need && !p",
		Package: "lock",
		Tests:   "^TestWhoIsToldToAskDoesUnlessItHasAskedSince$",
	},
	{
		Name:    "a successor that is behind another is predicted",
		File:    "lock/heartbeats.go",
		Old:     "p.contest.unpredictable || !q.next",
		New:     "p.contest.unpredictable || q.next",
		Package: "lock",
		Tests:   "^TestWhatAnAttemptHasFoundIsKnown$",
	},
	{
		Name: "a proposal is a place",
		File: "lock/heartbeats.go",
		Old: `	if q.ticket.Final {
		p.ticket = q.ticket.Number
	}
`,
		New: `	p.ticket = q.ticket.Number
`,
		Package: "lock",
		Tests:   "^TestWhatAnAttemptHasFoundIsKnown$",
	},
	{
		Name:    "who waits for permits is not told that those before have asked",
		File:    "lock/advance.go",
		Old:     "if ct.key.order == unordered || ct.key.order == queued {",
		New:     "if ct.key.order != shared {",
		Package: "lock",
		Tests:   "^TestAPermitThatEndsSendsOneWhoWaitsHereToTheNodes$",
	},
	{
		Name:    "nobody leaves its place to those who follow",
		File:    "lock/queue.go",
		Old:     "if p.contest.key.order != shared {",
		New:     "if true {",
		Package: "readwrite",
		Tests:   "^TestWhoLeadsAndGivesUpLeavesItsPlaceToTheNext$",
	},
	{
		Name:    "whom a leaving one leads waits on and on",
		File:    "lock/lead.go",
		Old:     "if len(leaders) == 0 {",
		New:     "if true {",
		Package: "lock",
		Tests:   "^TestThoseWhoFollowedOneThatLeavesFollowTheFirstOfThem$",
	},
	{
		Name:    "one that leads is not known to be followed",
		File:    "lock/lead.go",
		Old:     "p.leader = leader; leader != nil {",
		New:     "p.leader = leader; false {",
		Package: "lock",
		Tests:   "^TestWhoInheritsAPlaceHasAllOfIt$",
	},
	{
		Name:    "who comes asks before one that waits for its turn",
		File:    "lock/line.go",
		Old:     "return before.starting || before.later",
		New:     "return before.starting",
		Package: "lock",
		Tests:   "^TestGoroutinesAskForTheirPlacesInTheOrderOfArrival$",
	},
	{
		Name: "who waited for a turn that does not come follows nobody",
		File: "lock/line.go",
		Old: `			p.follow(ct.leads(p, ct.queue[:i]))
			p.later`,
		New:     "\t\t\tp.later",
		Package: "lock",
		Tests:   "^TestThoseWhoWaitForATurnThatDoesNotComeAskTheNodes$",
	},
	{
		Name: "who waited for a turn that does not come waits on",
		File: "lock/line.go",
		Old: `		}
	}
	ct.advance()
`,
		New: `		}
	}
`,
		Package: "lock",
		Tests:   "^TestThoseWhoWaitForATurnThatDoesNotComeAskTheNodes$",
	},
	{
		Name: "a name that this process has is never tidied",
		File: "lock/line.go",
		Old: `	ct.tidy()
`,
		New: `	if ct.tenure == nil {
		ct.tidy()
	}
`,
		Package: "lock",
		Tests:   "^TestWhatNobodyNeedsIsDropped$",
	},
	{
		Name:    "a reader follows past a writer that has its turn",
		File:    "lock/lead.go",
		Old:     "case before.writes(), before.here:",
		New:     "case before.writes():",
		Package: "lock",
		Tests:   "^TestWhoWaitsToReadFollowsNobodyPastAWriter$",
	},
	{
		Name:    "who follows reads with the lease of its leader",
		File:    "lock/lead.go",
		Old:     " || q.slot == p.call.slot || ",
		New:     " || ",
		Package: "lock",
		Tests:   "^TestWhoFollowsReadsWithinTheGrantOfItsLeader$",
	},
	{
		Name:    "who follows reads after the end",
		File:    "lock/lead.go",
		Old:     " || !now.Before(t.validity) {",
		New:     " {",
		Package: "lock",
		Tests:   "^TestWhoFollowsReadsWithinTheGrantOfItsLeader$",
	},
	{
		Name:    "who follows another has waited since now",
		File:    "lock/lead.go",
		Old:     "f.opened, f.closed = p.opened, p.closed",
		New:     "f.opened = p.opened",
		Package: "lock",
		Tests:   "^TestThoseWhoFollowedOneThatLeavesFollowTheFirstOfThem$",
	},
	{
		Name: "who followed one that leaves follows nobody",
		File: "lock/lead.go",
		Old: `			f.follow(first[i])
`,
		New: `			f.follow(nil)
`,
		Package: "lock",
		Tests:   "^TestThoseWhoFollowedOneThatLeavesFollowTheFirstOfThem$",
	},
	{
		Name: "a place is as old as its last request",
		File: "lock/lead.go",
		Old: `	if p.opened.IsZero() {
		p.opened = time.Now()
	}
`,
		New: `	p.opened = time.Now()
`,
		Package: "lock",
		Tests:   "^TestAPlaceIsAsOldAsTheFirstRequest$",
	},
	{
		Name: "who has left the queue has its ticket",
		File: "lock/advance.go",
		Old: `	p.ticket = 0
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestWhoHasLeftTheQueueHasNoTurn$",
	},
	{
		Name:    "who is sent to the nodes is sent again",
		File:    "lock/advance.go",
		Old:     "p.unplaced, p.sent, p.later = false, true, true",
		New:     "p.unplaced, p.later = false, true",
		Package: "lock",
		Tests:   "^TestAPermitThatEndsSendsOneWhoWaitsHereToTheNodes$",
	},
	{
		Name:    "all who are sent to the nodes ask at once",
		File:    "lock/advance.go",
		Old:     "p.unplaced, p.sent, p.later = false, true, true",
		New:     "p.unplaced, p.sent = false, true\n\t\t\tp.stir(false)",
		Package: "lock",
		Tests:   "^TestThoseWhoWaitHereTakeTheirPlacesInOrder$",
	},
	{
		Name:    "who comes later takes a place before those who wait here",
		File:    "lock/advance.go",
		Old:     "if before == p || before.unplaced {",
		New:     "if before == p {",
		Package: "lock",
		Tests:   "^TestWhoComesLaterTakesNoPlaceBeforeThoseWhoWaitHere$",
	},
	{
		Name:    "who is sent to the nodes waits for the answer to the one before",
		File:    "lock/ask.go",
		Old:     "\tq.place.underWay(b)\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestThoseWhoWaitHereTakeTheirPlacesTogether$",
	},
	{
		Name:    "those who are sent to the nodes wait for the subscription one after the other",
		File:    "lock/queue.go",
		Old:     "left -= time.Since(q.place.came)",
		New:     "left -= 0",
		Package: "lock",
		Tests:   "^TestThoseWhoWaitHereWaitForMessagesTogether$",
	},
	{
		Name: "everybody is sent to the nodes",
		File: "lock/advance.go",
		Old: `			n--
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAPermitThatEndsSendsOneWhoWaitsHereToTheNodes$",
	},
	{
		Name: "who cannot hear has seen a holder",
		File: "lock/contender.go",
		Old: `	if c.behind != nil {
		c.holder = ""
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestWhoIsToldNothingCannotHear$",
	},
	{
		Name:    "the mark of one that cannot hear ends with a lost look",
		File:    "lock/contender.go",
		Old:     "Life: 4 * deafLook}",
		New:     "Life: deafLook}",
		Package: "lock",
		Tests:   "^TestTheMarkOfOneThatCannotHearOutlivesALostLook$",
	},
	{
		Name:    "an attempt that told nothing counts",
		File:    "lock/contender.go",
		Old:     "far := d.sure && ct",
		New:     "far := ct",
		Package: "lock",
		Tests:   "^TestAnAttemptThatToldNothingCountsForNobody$",
	},
	{
		Name:    "a head looks while others have a chance",
		File:    "lock/contender.go",
		Old:     "return c.place.signal(), head && ct.later == nil, ct.wakes",
		New:     "return c.place.signal(), head, ct.wakes",
		Package: "lock",
		Tests:   "^TestTheHeadLooksForNothingWhileOthersHaveAChance$",
	},
	{
		Name:    "a confirmation that is overdue is waited for",
		File:    "lock/contender.go",
		Old:     "max(time.Until(c.late), time.Nanosecond)",
		New:     "time.Until(c.late)",
		Package: "lock",
		Tests:   "^TestAHeadDoesNotWaitForAConfirmationThatIsOverdue$",
	},
}
