package main

// lockOwnerMutants are bugs in owners, and locking again.
var lockOwnerMutants = []Mutant{
	{
		Name:    "an owner outlives its last hold",
		File:    "lock/owner.go",
		Old:     "if o.holds--; o.holds == 0 && !o.lasting {",
		New:     "if o.holds--; false {",
		Package: "lock",
		Tests:   "^TestGoroutinesThatOutliveALeaseExcludeEachOther$",
	},
	{
		Name:    "an owner ends with its first hold",
		File:    "lock/owner.go",
		Old:     "if o.holds--; o.holds == 0 && !o.lasting {",
		New:     "if o.holds--; !o.lasting {",
		Package: "lock",
		Tests:   "^TestOwnerLastsAsLongAsAnyOfItsHolds$",
	},
	{
		Name:    "an owner of WithOwner ends, too",
		File:    "lock/owner.go",
		Old:     "if o.holds--; o.holds == 0 && !o.lasting {",
		New:     "if o.holds--; o.holds == 0 {",
		Package: "lock",
		Tests:   "^TestOwnerOfAScopeOutlivesItsHolds$",
	},
	{
		Name: "who waited has the owner that has ended",
		File: "lock/owner.go",
		Old: `	if !o.ended {
		o.holds++`,
		New: `	if true {
		o.holds++`,
		Package: "lock",
		Tests:   "^TestOwnerThatEndsWhileItsGoroutineWaitsHasNothingAnyMore$",
	},
	{
		Name:    "WithoutOwner leaves the owner",
		File:    "lock/owner.go",
		Old:     "return unowned{ctx}",
		New:     "return ctx",
		Package: "lock",
		Tests:   "^TestGoroutineWithoutOwnerIsNotItsParent$",
	},
	{
		Name:    "EnsureOwner begins a scope in any case",
		File:    "lock/owner.go",
		Old:     "if _, shared := ownerOf(ctx); shared {",
		New:     "if _, shared := ownerOf(ctx); false && shared {",
		Package: "lock",
		Tests:   "^TestOwnerThatAContextCarriesIsKept$",
	},
	{
		Name:    "EnsureOwner keeps an owner that is over",
		File:    "lock/owner.go",
		Old:     "if _, shared := ownerOf(ctx); shared {",
		New:     "if _, shared := ownerOf(ctx); shared || ctx.Value(ownerKey{}) != nil {",
		Package: "lock",
		Tests:   "^TestOwnerIsGivenToAContextThatCarriesNone$",
	},
	{
		Name:    "an owner is one for all clients",
		File:    "lock/owner.go",
		Old:     "if s.client == c && s.key == key {",
		New:     "if s.key == key {",
		Package: "lock",
		Tests:   "^TestOwnerOfOneClientIsNoneOfAnother$",
	},
	{
		Name:    "releases wait behind re-entries",
		File:    "lock/owner.go",
		Old:     "[]*[]chan struct{}{&s.lines.releasers, &s.lines.acquirers}",
		New:     "[]*[]chan struct{}{&s.lines.acquirers, &s.lines.releasers}",
		Package: "lock",
		Tests:   "^TestUnlockDoesNotWaitForTheReentriesOfItsOwner$",
	},
	{
		Name: "who gives up its turn keeps it",
		File: "lock/owner.go",
		Old: `		s.give() // it has come at the same moment
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestTurnThatComesAsItsWaiterGivesUpIsPassedOn$",
	},
	{
		Name: "a re-entry ignores that the hold is over",
		File: "lock/reenter.go",
		Old: `	case over != nil:
`,
		New: `	case false:
`,
		Package: "lock",
		Tests:   "^TestReentryOfAHoldThatIsGoneIsRefusedAtOnce$",
	},
	{
		Name:    "a re-entry asks for nothing",
		File:    "lock/reenter.go",
		Old:     "asks := h.over == nil && !kept && h.validity.Before(wanted)",
		New:     "asks := false && !kept",
		Package: "lock",
		Tests:   "^TestReentryAsksForATTLThatTheHoldDoesNotKeep$",
	},
	{
		Name:    "a re-entry always asks",
		File:    "lock/reenter.go",
		Old:     "asks := h.over == nil && !kept && h.validity.Before(wanted)",
		New:     "asks := h.over == nil && (true || kept)",
		Package: "lock",
		Tests:   "^TestReentryAsksNoNode$",
	},
	{
		Name:    "a re-entry does not look at the clock",
		File:    "lock/reenter.go",
		Old:     "h.over, h.reason, time.Now().Before(h.validity)",
		New:     "h.over, h.reason, true || time.Now().Before(h.validity)",
		Package: "lock",
		Tests:   "^TestReentryLooksAtTheClock$",
	},
	{
		Name:    "a re-entry that comes too late is never settled",
		File:    "lock/reenter.go",
		Old:     "if over == nil && valid {",
		New:     "if over == nil {",
		Package: "lock",
		Tests:   "^TestReentryLooksAtTheClock$",
	},
	{
		Name:    "a re-entered fixed lease lasts as long as the hold",
		File:    "lock/reenter.go",
		Old:     "if !e.set.renew && wanted.Before(deadline) {",
		New:     "if false {",
		Package: "lock",
		Tests:   "^TestReentryAsksForATTLThatTheHoldDoesNotKeep$",
	},
	{
		Name:    "a re-entry that is cut off is refused by its own hold",
		File:    "lock/reenter.go",
		Old:     "return nil, &denial{cut: cut.votes}, cut.error",
		New:     "return nil, nothing, cut.error",
		Package: "lock",
		Tests:   "^TestReentryThatIsCutOffIsNoRefusalByItsOwnHold$",
	},
	{
		Name: "one of two calls of an owner is refused by its hold",
		File: "lock/acquire.go",
		Old: `				d = &denial{err: errTurn}
`,
		New: `				d = nothing
`,
		Package: "lock",
		Tests:   "^TestReentryThatIsCutOffIsNoRefusalByItsOwnHold$",
	},
	{
		Name:    "a TryLock that re-enters fails when its time is over",
		File:    "lock/reenter.go",
		Old:     "		case silent && errors.Is(context.Cause(ctx), errTryOver):",
		New:     "		case false:",
		Package: "lock",
		Tests:   "^TestTryLockReentersInItsTime$",
	},
	{
		Name: "a re-entry does not look at the clock after it has asked",
		File: "lock/reenter.go",
		Old: `time.Now().Before(h.validity)
	var l`,
		New: `start.Before(h.validity)
	var l`,
		Package: "lock",
		Tests:   "^TestReentryLooksAtTheClockAfterItHasAsked$",
	},
}
