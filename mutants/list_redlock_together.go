package main

// togetherMutants are bugs in what has several calls leave together.
var togetherMutants = []Mutant{
	{
		Name:    "calls leave one by one",
		File:    "redlock/ballot.go",
		Old:     "	if gathers(ctx) != nil {\n		b.Prepare()",
		New:     "	if false && gathers(ctx) != nil {\n		b.Prepare()",
		Package: "lock",
		Tests:   "^TestCallsTogetherCostOneRoundTrip$",
	},
	{
		Name: "a call that sends nothing is waited for",
		File: "redlock/together.go",
		Old: `	defer m.leave()
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestCallThatSendsNothingHoldsUpNoOther$",
	},
	{
		Name: "whoever leaves without a command leaves the others behind",
		File: "redlock/together.go",
		Old: `		l.flush()
	}
}

// send`,
		New: `		_ = l
	}
}

// send`,
		Package: "lock",
		Tests:   "^TestCallThatSendsNothingHoldsUpNoOther$",
	},
	{
		Name:    "whoever comes last leaves alone",
		File:    "redlock/together.go",
		Old:     "		leave(ctx, all)",
		New:     "		leave(ctx, ballots)",
		Package: "lock",
		Tests:   "^TestCallsTogetherOfSeveralClientsLeaveAtOnce$",
	},
	{
		Name:    "a call is waited for without end",
		File:    "redlock/together.go",
		Old:     "	case <-timer.C:",
		New:     "	case <-(chan time.Time)(nil):",
		Package: "lock",
		Tests:   "^TestCallThatSendsNothingHoldsUpNoOther$",
	},
	{
		Name:    "a call waits for the others each time",
		File:    "redlock/together.go",
		Old:     "m != nil && !m.came.Load() {",
		New:     "m != nil {",
		Package: "lock",
		Tests:   "^TestCallsTogetherGoOnAlone$",
	},
	{
		Name:    "a call waits for the others when its context has ended",
		File:    "redlock/together.go",
		Old:     "	case <-ctx.Done():\n",
		New:     "	case <-(chan struct{})(nil):\n",
		Package: "lock",
		Tests:   "^TestCallsTogetherEndWithTheirContext$",
	},
}
