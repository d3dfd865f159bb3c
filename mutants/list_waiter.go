package main

// waiterMutants are bugs in the subscriptions.
var waiterMutants = []Mutant{
	{
		Name:    "each node's message wakes",
		File:    "waiter/tally.go",
		Old:     "if first = t.said[node] == \"\"; first {",
		New:     "if first = true; first {",
		Package: "waiter",
		Tests:   "^TestQuorumThatFollowsAMinorityWakesAgain$",
	},
	{
		Name: "a channel that is wanted again is unsubscribed",
		File: "waiter/line.go",
		Old:  "if sent && !wanted {",
		New: `_ = wanted
		if sent {`,
		Package: "waiter",
		Tests:   "^TestChannelThatIsWantedAgainIsNotUnsubscribed$",
	},
	{
		Name:    "one node that listens is ready",
		File:    "waiter/channel.go",
		Old:     "c.confirms == h.quorum {",
		New:     "c.confirms == 1 {",
		Package: "waiter",
		Tests:   "^TestReadyWaitsForAQuorum$",
	},
	{
		Name: "a minority waits for ever",
		File: "waiter/channel.go",
		Old: `		c.timer.Reset(grace)
`,
		New:     "",
		Package: "waiter",
		Tests:   "^TestQuorumWakesAtOnceAndAMinorityAfterTheGrace$",
	},
	{
		Name:    "a quorum waits for the grace",
		File:    "waiter/channel.go",
		Old:     "if first && t.count == h.quorum {",
		New:     "if _ = first; false {",
		Package: "waiter",
		Tests:   "^TestQuorumWakesAtOnceAndAMinorityAfterTheGrace$",
	},
	{
		Name:    "repetitions wake",
		File:    "waiter/channel.go",
		Old:     "if first && t.count == h.quorum {",
		New:     "if _ = first; t.count >= h.quorum {",
		Package: "waiter",
		Tests:   "^TestOneReleaseWakesOnceAndNotOncePerNode$",
	},
	{
		Name:    "nobody looks after a connection broke",
		File:    "waiter/channel.go",
		Old:     `	c.wake([]string{""}) // unlocks`,
		New:     "	c.wake() // unlocks",
		Package: "waiter",
		Tests:   "^TestSilentConnectionIsFoundWithinFourSeconds$",
	},
	{
		Name:    "a silent connection is found after a minute",
		File:    "waiter/line.go",
		Old:     "pingAfter  = 3 * time.Second",
		New:     "pingAfter  = 59 * time.Second",
		Package: "waiter",
		Tests:   "^TestSilentConnectionIsFoundWithinFourSeconds$",
	},
	{
		Name: "a pong is waited for for ever",
		File: "waiter/line.go",
		Old: `			patience = pongWithin
`,
		New: `			patience = 30 * pongWithin
`,
		Package: "waiter",
		Tests:   "^TestSilentConnectionIsFoundWithinFourSeconds$",
	},
	{
		Name:    "a quiet connection is taken for dead",
		File:    "waiter/line.go",
		Old:     "asked, failing, dead = false, false, false",
		New:     "failing, dead = false, false",
		Package: "waiter",
		Tests:   "^TestQuietConnectionIsKept$",
	},
	{
		Name:    "a name is given up at once",
		File:    "waiter/hub.go",
		Old:     "if now.Sub(since) < linger {",
		New:     "if now.Sub(since) < 0 {",
		Package: "waiter",
		Tests:   "^TestNameIsGivenUpASecondAfterItsLastListener$",
	},
	{
		Name: "a name is never given up",
		File: "waiter/hub.go",
		Old: `			n.unwant(c.name)
`,
		New: `			_ = n
`,
		Package: "waiter",
		Tests:   "^TestNameIsGivenUpASecondAfterItsLastListener$",
	},
	{
		Name: "a name that is in use is given up",
		File: "waiter/hub.go",
		Old: `	delete(h.idle, c)
	s :=`,
		New:     "	s :=",
		Package: "waiter",
		Tests:   "^TestNameIsGivenUpASecondAfterItsLastListener$",
	},
	{
		Name: "who has left is woken",
		File: "waiter/subscription.go",
		Old: `	delete(s.channel.subscriptions, s)
`,
		New:     "",
		Package: "waiter",
		Tests:   "^TestEachWhoListensIsWokenUntilItLeaves$",
	},
	{
		Name: "a new connection knows no names",
		File: "waiter/line.go",
		Old: `		l.add = append(l.add, c)
	}`,
		New: `		_ = c
	}
	_ = l.wanted`,
		Package: "waiter",
		Tests:   "^TestSilentConnectionIsFoundWithinFourSeconds$",
	},
	{
		Name: "a Cluster is listened to by one connection",
		File: "waiter/cluster.go",
		Old: `	if l := c.lines[master]; l != nil {
		return l
`,
		New: `	for _, l := range c.lines {
		return l
`,
		Package: "waiter",
		Tests:   "^TestAStuckShardHoldsUpNoOthersMessages$",
	},
	{
		Name:    "a master that is gone is listened to for ever",
		File:    "waiter/line.go",
		Old:     "if l.giveUp == nil || !l.giveUp() {",
		New:     "if true {",
		Package: "waiter",
		Tests:   "^TestAMasterThatIsGoneIsListenedToElsewhere$",
	},
	{
		Name:    "a master that is gone is the next one again",
		File:    "waiter/cluster.go",
		Old:     "if to == nil || c.avoids(to) {",
		New:     "if to == nil {",
		Package: "waiter",
		Tests:   "^TestAMasterThatIsGoneIsListenedToElsewhere$",
	},
	{
		Name: "another master is asked for at a server",
		File: "waiter/cluster.go",
		Old:  "func (c *cluster) another() *redis.Client {\n",
		New: `func (c *cluster) another() *redis.Client {
	_ = c.client.ForEachMaster(c.ctx, func(context.Context, *redis.Client) error { return nil })
`,
		Package: "waiter",
		Tests:   "^TestASubscriptionWaitsForNoServer$",
	},
	{
		Name:    "what is said late about a subject is something new",
		File:    "waiter/tally.go",
		Old:     "return t.woken && !slices.Contains(t.said, message) && (",
		New:     "return t.woken && (true || slices.Contains(t.said, message)) && (",
		Package: "waiter",
		Tests:   "^TestMessagesAboutOneSubjectAreCountedTogether$",
	},
	{
		Name:    "nothing new is heard about a subject",
		File:    "waiter/tally.go",
		Old:     "return t.woken && !slices.Contains(t.said, message) && (",
		New:     "return false && !slices.Contains(t.said, message) && (",
		Package: "waiter",
		Tests:   "^TestMessagesAboutOneSubjectAreCountedTogether$",
	},
	{
		Name:    "an event that completes another's quorum has none of its own",
		File:    "waiter/tally.go",
		Old:     "if news && t.count == quorum {",
		New:     "if news && t.count < 0 {",
		Package: "waiter",
		Tests:   "^TestMessagesAboutOneSubjectAreCountedTogether$",
	},
	{
		Name:    "a minority that has woken completes no quorum",
		File:    "waiter/tally.go",
		Old:     `(t.count >= quorum || t.said[node] != "")`,
		New:     `(t.count >= quorum || true)`,
		Package: "waiter",
		Tests:   "^TestMessagesAboutOneSubjectAreCountedTogether$",
	},
	{
		Name:    "in a Cluster, a client listens at one master",
		File:    "lock/hear.go",
		Old:     "		c.hub.Near(channel, key)\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestAWaiterListensWhereItsLockIs$",
	},
	{
		Name:    "nothing is heard near where it is published",
		File:    "waiter/cluster.go",
		Old:     "		l.want(channel)\n	}\n}\n\n// place",
		New:     "	}\n}\n\n// place",
		Package: "waiter",
		Tests:   "^TestAChannelIsHeardNearWhereItsMessagesArePublished$",
	},
	{
		Name:    "an echo is news",
		File:    "waiter/echo.go",
		Old:     "counts.byLine[l] > counts.most",
		New:     "counts.byLine[l] >= counts.most",
		Package: "waiter",
		Tests:   "^TestAMessageThatComesByTwoLinesIsNewsOnce$",
	},
	{
		Name:    "what is published again is an echo",
		File:    "waiter/echo.go",
		Old:     "counts.byLine[l] > counts.most",
		New:     "counts.most == 0",
		Package: "waiter",
		Tests:   "^TestAMessageThatIsPublishedAgainIsNewsAgain$",
	},
	{
		Name:    "echoes are never forgotten",
		File:    "waiter/echo.go",
		Old:     "	e.forget(now)\n",
		New:     "",
		Package: "waiter",
		Tests:   "^TestEchoesAreForgotten$",
	},
	{
		Name:    "a server that is stopped for long fills the log",
		File:    "waiter/line.go",
		Old:     "			if !dead {",
		New:     "			if dead = false; !dead {",
		Package: "waiter",
		Tests:   "^TestSubscriptionsOfAStoppedNodeAreLoggedOnceAsDead$",
	},
}
