package main

// multiMutants are bugs in what takes several locks together.
var multiMutants = []Mutant{
	{
		Name:    "who has waited for one name is refused the next one",
		File:    "multi/acquire.go",
		Old:     "	if a.waited {",
		New:     "	if false {",
		Package: "multi",
		Tests:   "^TestALockOfSeveralWaitsOnThoughNodesRefuseIt$",
	},
	{
		Name:    "the last lock's own end is the cause for a context that can be cancelled",
		File:    "multi/context.go",
		Old:     "valueless.WithCancelCause(parent)",
		New:     "valueless.WithCancelCause(contexts[len(contexts)-1])",
		Package: "multi",
		Tests:   "^TestAllContextsNameTheSameLock$",
	},
	{
		Name:    "a Lock of several goes past the line of its process",
		File:    "multi/acquire.go",
		Old:     "\t\tif a.blocks && a.leases[i] == nil && !a.hasNamesake(i) && engine.Awaited(a.owned, l) {",
		New:     "\t\tif false && engine.Awaited(a.owned, l) {",
		Package: "multi",
		Tests:   "TestALockDoesNotGoPastTheLineOfItsProcess",
	},
	{
		Name:    "a Lock of several goes past those that wait here while nobody here has the name",
		File:    "lock/line.go",
		Old:     "(len(ct.queue) > 0 || ct.later",
		New:     "(ct.later",
		Package: "multi",
		Tests:   "^TestALockDoesNotGoPastThoseWhoWaitForAnotherProcess$",
	},
	{
		Name:    "a reader is taken before a writer of the same lock",
		File:    "multi/mutex.go",
		Old:     "	case readsA == readsB:",
		New:     "	case true || readsA == readsB:",
		Package: "multi",
		Tests:   "^TestAWriterIsTakenBeforeAReaderOfTheSameLock$",
	},
	{
		Name:    "a Lock of several asks for what is left to others",
		File:    "lock/line.go",
		Old:     "|| ct.later != nil || ct.tenure",
		New:     "|| ct.tenure",
		Package: "multi",
		Tests:   "^TestALockLeavesOthersTheirChance$",
	},
	{
		Name:    "a Lock of several asks for what its process has",
		File:    "lock/line.go",
		Old:     "|| ct.tenure != nil && e.joinable == nil)",
		New:     ")",
		Package: "multi",
		Tests:   "TestNoNodeIsAskedForWhatTheProcessHasOrWaitsFor",
	},
	{
		Name:    "a Lock of several waits in line for what its owner has",
		File:    "lock/line.go",
		Old:     "\tif o.entered(e.client, e.keys.Lock) {",
		New:     "\tif false && o.entered(e.client, e.keys.Lock) {",
		Package: "multi",
		Tests:   "TestWhatIsAwaitedHidesNeitherReentryNorRefusal",
	},
	{
		Name:    "a call that ends in a pause does not say why it waited",
		File:    "multi/acquire.go",
		Old:     "	if told || ",
		New:     "	if true || told || ",
		Package: "multi",
		Tests:   "^TestNamesakesThatAreGivenUpSayWhy$",
	},
	{
		Name:    "the caller's order, not the names'",
		File:    "multi/mutex.go",
		Old:     "return cmp.Compare(ranks[i], ranks[j])",
		New:     "return 0 * cmp.Compare(ranks[i], ranks[j])",
		Package: "multi",
		Tests:   "^TestOppositeOrdersDoNotWaitInACircle$",
	},
	{
		Name:    "leases are in the order of names",
		File:    "multi/mutex.go",
		Old:     "m.given[i] = locks[i], ranks[i], at",
		New:     "m.given[at] = locks[i], ranks[i], at",
		Package: "multi",
		Tests:   "^TestFreeNamesCostOneRoundTrip$",
	},
	{
		Name: "a nil lock is asked for",
		File: "multi/mutex.go",
		Old: `		if l == nil {
`,
		New: `		if false && l == nil {
`,
		Package: "multi",
		Tests:   "^TestMutexOfNothingOrOfNilFails$",
	},
	{
		Name: "a panic keeps the locks",
		File: "multi/mutex.go",
		Old: `	defer func() {
		if failed := lease.Unlock(ctx); failed != nil { // else fn's error itself is returned
			err = errors.Join(err, failed)
		}
	}()
	return fn(lease.Context(ctx))`,
		New:     `	return errors.Join(fn(lease.Context(ctx)), lease.Unlock(ctx))`,
		Package: "multi",
		Tests:   "^TestPanicInDoUnlocks$",
	},
	{
		Name:    "names are asked for one after the other",
		File:    "multi/acquire.go",
		Old:     "				asked = append(asked, j)\n				break\n			}\n		}\n",
		New:     "				return []int{j}\n			}\n		}\n",
		Package: "multi",
		Tests:   "^TestFreeNamesCostOneRoundTrip$",
	},
	{
		Name: "what is behind the refused name is kept during the wait",
		File: "multi/acquire.go",
		Old: `	a.giveBack(first)
`,
		New: `	a.giveBack(len(a.leases))
`,
		Package: "multi",
		Tests:   "^TestWaitHoldsWhatIsBeforeAndNothingBehind$",
	},
	{
		Name: "everything is given back for a wait",
		File: "multi/acquire.go",
		Old: `	a.giveBack(first)
`,
		New: `	a.giveBack(0 * first)
`,
		Package: "multi",
		Tests:   "^TestWaitHoldsWhatIsBeforeAndNothingBehind$",
	},
	{
		Name: "a wait that is cancelled keeps what it has",
		File: "multi/acquire.go",
		Old: `			a.giveBack(0)
			return err
`,
		New: `			return err
`,
		Package: "multi",
		Tests:   "^TestCancelledWaitGivesEverythingBack$",
	},
	{
		Name: "what was granted while the call was cancelled is kept",
		File: "multi/acquire.go",
		Old: `			a.giveBack(0)
			return err
`,
		New: `			if i > 0 {
				a.giveBack(0)
			}
			return err
`,
		Package: "multi",
		Tests:   "^TestCancellationAtAnyMomentGivesEverythingBack$",
	},
	{
		Name:    "a TryLock returns what was lost while it asked",
		File:    "multi/acquire.go",
		Old:     "		err = a.overdue(time.Since(began))\n",
		New:     "		_ = a.overdue(time.Since(began))\n",
		Package: "multi",
		Tests:   "^TestTryLockReturnsNothingThatIsOver$",
	},
	{
		Name: "a TryLock that is refused keeps what it has",
		File: "multi/acquire.go",
		Old: `	if err != nil {
		a.giveBack(0)
	}
`,
		New:     "",
		Package: "multi",
		Tests:   "^TestTryLockIsAllOrNothing$",
	},
	{
		Name: "the last refusal is told of",
		File: "multi/acquire.go",
		Old: `		case err == nil:
			first, err = i, e
`,
		New: `		default:
			first, err = i, e
`,
		Package: "multi",
		Tests:   "^TestTryLockIsAllOrNothing$",
	},
	{
		Name:    "bad input is told after the wait",
		File:    "multi/acquire.go",
		Old:     "		case !a.worthWaiting(e):",
		New:     "		case err == nil && !a.worthWaiting(e):",
		Package: "multi",
		Tests:   "^TestErrorThatNoWaitCanMendComesAtOnce$",
	},
	{
		Name:    "nobody waits for a quorum",
		File:    "multi/acquire.go",
		Old:     "return errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum)",
		New:     "return errors.Is(err, lock.ErrLocked)",
		Package: "multi",
		Tests:   "^TestLockWaitsForAQuorum$",
	},
	{
		Name:    "a lease that is lost before it is re-entered ends the call",
		File:    "multi/acquire.go",
		Old:     "		case errors.Is(err, lock.ErrLost) && a.lost() < len(a.locks):\n",
		New:     "		case false:\n",
		Package: "multi",
		Tests:   "^TestWhatIsLostBeforeItIsReenteredIsTakenAgain$",
	},
	{
		Name:    "each lock has an owner of its own",
		File:    "multi/acquire.go",
		Old:     "lock.TryTogether(a.owned, locks...)",
		New:     "lock.TryTogether(lock.WithoutOwner(a.owned), locks...)",
		Package: "multi",
		Tests:   "^TestLocksOfSeveralClients$",
	},
	{
		Name:    "the owner that ctx carries is left out",
		File:    "multi/acquire.go",
		Old:     "lock.EnsureOwner(&call{a.ctx})",
		New:     "lock.WithOwner(&call{a.ctx})",
		Package: "multi",
		Tests:   "^TestNestedCallsReenter$|^TestCallInsideALockReenters$",
	},
	{
		Name:    "an owner that has ended is not replaced",
		File:    "multi/acquire.go",
		Old:     "return lock.EnsureOwner(a.owned) != a.owned",
		New:     "return false && lock.EnsureOwner(a.owned) != a.owned",
		Package: "multi",
		Tests:   "^TestOwnerThatEndsDuringTheCallIsReplaced$/two_names",
	},
	{
		Name:    "what was lost during the wait is returned",
		File:    "multi/acquire.go",
		Old:     "if i = a.lost(); i == len(a.locks) {",
		New:     "if i = len(a.locks); i == len(a.locks) {",
		Package: "multi",
		Tests:   "^TestWhatIsLostDuringTheWaitIsTakenAgain$",
	},
	{
		Name:    "a lock is held while the call waits for its namesake",
		File:    "multi/acquire.go",
		Old:     "for first = i; first > 0 && ",
		New:     "for first = i; false && ",
		Package: "multi",
		Tests:   "^TestNamesakesOnDifferentNodesAreNotHeldWhileWaiting$",
	},
	{
		Name:    "rivals for namesakes do not pause",
		File:    "multi/acquire.go",
		Old:     "	if end-first > 1 {",
		New:     "	if false && end-first > 1 {",
		Package: "multi",
		Tests:   "^TestNamesakesInOppositeOrdersComeThrough$",
	},
	{
		Name:    "the latest deadline is told",
		File:    "multi/lease.go",
		Old:     "d.Before(earliest)",
		New:     "d.After(earliest)",
		Package: "multi",
		Tests:   "^TestContextLooksAtTheClock$|^TestDeadlineMovesWithTheRenewals$",
	},
	{
		Name: "a later loss is told of in place of the first",
		File: "multi/lease.go",
		Old: `	if l.err == nil {
		l.err = err
	}
	err, end`,
		New: `	if err != nil {
		l.err = err
	}
	err, end`,
		Package: "multi",
		Tests:   "^TestFirstLossIsTheOneThatIsToldOf$",
	},
	{
		Name:    "two Unlocks at once release a part each",
		File:    "multi/lease.go",
		Old:     "	if again {\n",
		New:     "	if false && again {\n",
		Package: "multi",
		Tests:   "^TestOneOfTwoUnlocksAtOnceReleasesEverything$",
	},
	{
		Name:    "a second Unlock returns before the lease is over",
		File:    "multi/lease.go",
		Old:     "		_ = l.over(released)\n	}\n	l.endContexts()\n",
		New:     "		_ = released\n	}\n",
		Package: "multi",
		Tests:   "^TestOneOfTwoUnlocksAtOnceReleasesEverything$",
	},
	{
		Name:    "a second Unlock leaves contexts whose parents can end",
		File:    "multi/lease.go",
		Old:     "	l.endContexts()\n",
		New:     "",
		Package: "multi",
		Tests:   "^TestOneOfTwoUnlocksAtOnceReleasesEverything$",
	},
	{
		Name:    "a second Unlock waits for the first",
		File:    "multi/lease.go",
		Old:     "	if again {\n",
		New:     "	if again {\n		time.Sleep(time.Second) // for its answers\n",
		Package: "multi",
		Tests:   "^TestUnlockDuringAnotherOneReturnsAtOnce$",
	},
	{
		Name:    "Done misses a loss",
		File:    "multi/lease.go",
		Old:     "	_ = l.over(l.leases[i].Err())",
		New:     "	_ = l.leases[i].Err()",
		Package: "multi",
		Tests:   "^TestGoroutinesOfALease$|^TestFirstLossIsTheOneThatIsToldOf$",
	},
	{
		Name:    "Done counts as work",
		File:    "multi/lease.go",
		Old:     "		go l.watch()",
		New:     "		for i, lease := range l.leases {\n			l.follow(lease.Context(context.Background()), i, l.end)\n		}",
		Package: "multi",
		Tests:   "^TestAbandonedWorkLetsAllLocksLapse$",
	},
	{
		Name: "each Done starts a goroutine",
		File: "multi/lease.go",
		Old: `	l.watched = true
`,
		New:     "",
		Package: "multi",
		Tests:   "^TestGoroutinesOfALease$",
	},
	{
		Name:    "a lease's error is that of a lock which was released",
		File:    "multi/lease.go",
		Old:     "		case errors.Is(e, lock.ErrLost):",
		New:     "		case false && errors.Is(e, lock.ErrLost):",
		Package: "multi",
		Tests:   "^TestLeaseOfWhichOneWasUnlockedByHandIsLostAllTheSame$",
	},
	{
		Name:    "a lost lock takes the others with it",
		File:    "multi/context.go",
		Old:     "		contexts[i] = lease.Context(parent)\n",
		New:     "		contexts[i] = lease.Context(parent)\n		parent = contexts[i]\n",
		Package: "multi",
		Tests:   "^TestLossOfOneEndsTheLeaseAndNamesIt$",
	},
	{
		Name:    "a context ends with the last lock only",
		File:    "multi/context.go",
		Old:     "range contexts { // each",
		New:     "range contexts[len(contexts)-1:] { // each",
		Package: "multi",
		Tests:   "^TestLossOfOneEndsTheLeaseAndNamesIt$",
	},
	{
		Name:    "a context does not end with the last lock",
		File:    "multi/context.go",
		Old:     "range contexts { // each",
		New:     "range contexts[:len(contexts)-1] { // each",
		Package: "multi",
		Tests:   "^TestLossOfOneEndsTheLeaseAndNamesIt$",
	},
	{
		Name:    "contexts that cannot end see no loss",
		File:    "multi/context.go",
		Old:     "		if watch {\n",
		New:     "		if false && watch {\n",
		Package: "multi",
		Tests:   "^TestGoroutinesOfALease$",
	},
	{
		Name:    "a context does not look at the clock",
		File:    "multi/context.go",
		Old:     "	if s.Context.Err() == nil {",
		New:     "	if false && s.Context.Err() == nil {",
		Package: "multi",
		Tests:   "^TestContextLooksAtTheClock$",
	},
	{
		Name:    "a context carries no lease",
		File:    "multi/context.go",
		Old:     "	if key == (leaseKey{}) {",
		New:     "	if false && key == (leaseKey{}) {",
		Package: "multi",
		Tests:   "^TestContextCarriesWhatItsParentDoes$",
	},
	{
		Name:    "a context has lost its parent's values",
		File:    "multi/context.go",
		Old:     "	return s.values.Value(key)\n",
		New:     "	return nil\n",
		Package: "multi",
		Tests:   "^TestContextCarriesWhatItsParentDoes$",
	},
	{
		Name:    "the end of the parent is told as a loss is, if the first lock hears of it first",
		File:    "multi/context.go",
		Old:     "		if err := l.leases[i].Err(); err != nil {\n			end(l.over(err))\n		}\n",
		New:     "		if err := l.leases[i].Err(); err != nil {\n			_ = l.over(err)\n		}\n		end(context.Cause(ctx))\n",
		Package: "multi",
		Tests:   "^TestADeadlineIsNoCancellationWhicheverLockHearsOfItFirst$",
	},
	{
		Name:    "contexts of a parent that goes on pile up",
		File:    "multi/context.go",
		Old:     "	if !known {\n		t.Context",
		New:     "	if known = false; !known {\n		t.Context",
		Package: "multi",
		Tests:   "^TestContextsDoNotPileUp$",
	},
	{
		Name:    "an ended parent is followed for ever",
		File:    "multi/context.go",
		Old:     "			delete(l.ties, done)\n",
		New:     "",
		Package: "multi",
		Tests:   "^TestContextsDoNotPileUp$",
	},
	{
		Name:    "a name in braces has a place of its own",
		File:    "multi/mutex.go",
		Old:     "known, _ := lua.NameOf(prefix, keys.Lock)",
		New:     "known, _ := name, keys",
		Package: "multi",
		Tests:   "^TestANameInBracesHasThePlaceOfTheOneWithout$|^TestSpellingsOfOneNameDoNotWaitInACircle$",
	},
	{
		Name:    "only a plain name in braces has the place of the one without",
		File:    "multi/mutex.go",
		Old:     "	if err != nil {\n		return name //",
		New:     "	if inner := strings.Trim(name, \"{}\"); err != nil || strings.ContainsAny(inner, \"{}\") {\n		return name //",
		Package: "multi",
		Tests:   "^TestANameInBracesHasThePlaceOfTheOneWithout$|^TestSpellingsOfOneNameDoNotWaitInACircle$",
	},
	{
		Name: "the outermost lease is that of the context",
		File: "multi/context.go",
		Old: `	if key == (leaseKey{}) {
		return s.lease
	}
`,
		New: `	if v := s.values.Value(key); key == (leaseKey{}) && v != nil {
		return v
	}
	if key == (leaseKey{}) {
		return s.lease
	}
`,
		Package: "multi",
		Tests:   "^TestTheInnermostLeaseIsThatOfTheContext$",
	},
	{
		Name:    "pauses grow for ever",
		File:    "multi/acquire.go",
		Old:     "a.rivals = min(2*a.rivals, maxPause)",
		New:     "a.rivals = 2 * a.rivals",
		Package: "multi",
		Tests:   "^TestAPauseHasAMaximum$",
	},
	{
		Name: "a loss costs the names before it",
		File: "multi/acquire.go",
		Old: `			a.giveBack(i)
			continue`,
		New: `			a.giveBack(0)
			continue`,
		Package: "multi",
		Tests:   "^TestALossCostsNoneOfTheNamesBeforeIt$",
	},
	{
		Name:    "a loss before a re-entry costs the names before it",
		File:    "multi/acquire.go",
		Old:     "\t\t\ta.giveBack(a.lost()) //",
		New:     "\t\t\ta.giveBack(0) //",
		Package: "multi",
		Tests:   "^TestALossBeforeAReentryCostsNoneOfTheNamesBeforeIt$",
	},
	{
		Name: "a pause outlasts the call",
		File: "multi/acquire.go",
		Old: `	case <-timer.C:
	case <-a.ctx.Done(): // Lock will report that
`,
		New: `	case <-timer.C:
`,
		Package: "multi",
		Tests:   "^TestAPauseEndsWithTheCallsContext$",
	},
}
