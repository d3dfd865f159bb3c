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
		Old: `		w.cancel(cause)
`,
		New: `		_ = cause
`,
		Package: "lock",
		Tests:   "^TestLeaseIsLostAtItsDeadlineWhenNoNodeAnswers$",
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
		Name:    "contexts that cannot end count as ended",
		File:    "lock/work.go",
		Old:     "w != nil && w.living == 0 && w.shared == nil }",
		New:     "w != nil && w.living == 0 }",
		Package: "lock",
		Tests:   "^TestContextThatCannotEndKeepsTheLockRenewed$",
	},
	{
		Name:    "the end of renewal is not logged",
		File:    "lock/work.go",
		Old:     "if w.abandoned() && l.renew {",
		New:     "if false {",
		Package: "lock",
		Tests:   "^TestEndOfRenewalForWorkThatHasEndedIsLogged$",
	},
	{
		Name: "only the last context of endless parents ends",
		File: "lock/work.go",
		Old: `	if w.shared == nil {
`,
		New: `	if true {
`,
		Package: "lock",
		Tests:   "^TestEveryContextThatCannotEndEndsWithTheLease$",
	},
	{
		Name: "an ended parent is followed for ever",
		File: "lock/work.go",
		Old: `			delete(w.scopes, s)
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestContextsDoNotPileUp$",
	},
}
