package main

// lockWorkMutants are bugs in what counts as the work under a lease.
var lockWorkMutants = []Mutant{
	{
		Name: "work that was abandoned is renewed",
		File: "lock/work.go",
		Old: `	w.living--
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestAbandonedWorkLetsItsLockLapse$",
	},
	{
		Name: "contexts outlive the lease",
		File: "lock/work.go",
		Old: `		t.cancel(cause)
`,
		New: `		_ = cause
`,
		Package: "lock",
		Tests:   "^TestLeaseIsLostAtItsDeadlineWhenNoNodeAnswers$",
	},
	{
		Name: "contexts go on after Unlock while who ended the lease is paused",
		File: "lock/work.go",
		Old: `	w := l.work
	var cause error
`,
		New: `	w := l.work
	l.work = nil
	var cause error
`,
		Package: "lock",
		Tests:   "^TestContextsHaveEndedWhenUnlockOfALostLeaseReturns$",
	},
	{
		Name: "a lease that is over keeps its contexts",
		File: "lock/work.go",
		Old: `	l.work = nil // its contexts may go, however long the lease is kept
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestContextsAreForgottenByALeaseThatIsOver$",
	},
	{
		Name:    "the context that Lock was called with is no work",
		File:    "lock/work.go",
		Old:     "if ctx := (ending{l.waited}); ctx.Err() == nil {",
		New:     "if ctx := (ending{l.waited}); false && ctx.Err() == nil {",
		Package: "lock",
		Tests:   "^TestLeaderOutlivesTheRequestsItServes$",
	},
	{
		Name: "contexts that cannot end count as ended",
		File: "lock/work.go",
		Old: `	w.living++
	if done == nil {
		return t
	}
`,
		New: `	if done == nil {
		return t
	}
	w.living++
`,
		Package: "lock",
		Tests:   "^TestContextThatCannotEndKeepsTheLockRenewed$",
	},
	{
		Name:    "the end of renewal is not logged",
		File:    "lock/work.go",
		Old:     "if l.renew {",
		New:     "if false {",
		Package: "lock",
		Tests:   "^TestEndOfRenewalForWorkThatHasEndedIsLogged$",
	},
	{
		Name: "only the last context of endless parents ends",
		File: "lock/work.go",
		Old: `	if t != nil {
		return t
`,
		New: `	if t != nil && done != nil {
		return t
`,
		Package: "lock",
		Tests:   "^TestEveryContextThatCannotEndEndsWithTheLease$",
	},
	{
		Name: "an ended parent is followed for ever",
		File: "lock/work.go",
		Old: `			delete(w.ties, done)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestContextsDoNotPileUp$",
	},
	{
		Name: "contexts of a parent that goes on pile up",
		File: "lock/work.go",
		Old: `	if t != nil {
		return t
`,
		New: `	if t != nil && done == nil {
		return t
`,
		Package: "lock",
		Tests:   "^TestContextsDoNotPileUp$",
	},
	{
		Name:    "a context has the values of another one of its parent",
		File:    "internal/valueless/valueless.go",
		Old:     "	if m.key != key {",
		New:     "	if false {",
		Package: "lock",
		Tests:   "^TestContextsOfOneParentKeepTheirValues$",
	},
	{
		Name:    "why a parent has ended is not told to the lease's contexts",
		File:    "internal/valueless/valueless.go",
		Old:     "	if m.key != key {",
		New:     "	if true {",
		Package: "lock",
		Tests:   "^TestContextsOfOneParentKeepTheirValues$",
	},
	{
		Name:    "a parent that tells of its end itself is not asked to",
		File:    "internal/valueless/valueless.go",
		Old:     "parent.(afterFuncer); ok {",
		New:     "parent.(afterFuncer); ok && false {",
		Package: "multi",
		Tests:   "^TestADeadlineIsNoCancellationWhicheverLockHearsOfItFirst$",
	},
	{
		Name: "contexts of work keep leases that are over",
		File: "lock/work.go",
		Old: `		if t.stop != nil {
			t.stop()
		}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestALeaseThatIsOverIsForgottenByItsContexts$",
	},
	{
		Name: "the context of a wait keeps a lease that is over",
		File: "lock/work.go",
		Old: `	if w.stop != nil {
		w.stop()
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestALeaseThatIsOverIsForgottenByItsContexts$",
	},
	{
		Name: "the end of the work of a fixed lease is logged",
		File: "lock/work.go",
		Old: `	if l.renew {
`,
		New: `	{
`,
		Package: "lock",
		Tests:   "^TestTheEndOfTheWorkOfAFixedLeaseIsNotLogged$",
	},
}
