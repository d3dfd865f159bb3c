package main

// prometheusMutants are bugs in the metrics of Prometheus.
var prometheusMutants = []Mutant{
	{
		Name:    "a re-entry is one lease more",
		File:    "prometheus/collector.go",
		Old:     "if a.Handover != lock.HandoverReentry {",
		New:     "if true {",
		Package: "prometheus",
		Tests:   "^TestHowLocksCame|^TestNothingIsLeft",
	},
	{
		Name:    "a hold that was passed on is over by the name of the first one",
		File:    "lock/about.go",
		Old:     "LockKind: h.by.about(), Name: h.by.name,",
		New:     "LockKind: h.by.about(), Name: h.engine.name,",
		Package: "prometheus",
		Tests:   "^TestHoldThatIsPassedOnByTheOtherName",
	},
	{
		Name: "a wait that is over goes on",
		File: "prometheus/collector.go",
		Old: `		s.waiters.Dec()
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestNothingIsLeft|^TestHowLocksCame",
	},
	{
		Name: "the oldest wait is one that is over",
		File: "prometheus/collector.go",
		Old: `		s.waiting.end(a.Start)
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestTheOldestWait|^TestNothingIsLeft",
	},
	{
		Name:    "a close is a loss",
		File:    "prometheus/collector.go",
		Old:     "h.Reason != lock.ReasonUnlocked && h.Reason != lock.ReasonClosed {",
		New:     "h.Reason != lock.ReasonUnlocked {",
		Package: "prometheus",
		Tests:   "^TestACloseIsNoLoss",
	},
	{
		Name: "a loss is counted as an end only",
		File: "prometheus/collector.go",
		Old: `		s.losses.of(outcome).Inc()
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestLossesHaveAReason",
	},
	{
		Name: "a lost hold ends as its reason says",
		File: "prometheus/collector.go",
		Old: `		outcome = "lost"
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestLossesHaveAReason|^TestFailuresAreCounted",
	},
	{
		Name: "a hold that ends stays a lease",
		File: "prometheus/collector.go",
		Old: `	s.leases.Dec()
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestNothingIsLeft|^TestHowLocksCame",
	},
	{
		Name: "failed renewals are not counted",
		File: "prometheus/collector.go",
		Old: `	} else {
		s.renewals.of("failed").Inc()
	}
`,
		New: `	}
`,
		Package: "prometheus",
		Tests:   "^TestAServerThatStops",
	},
	{
		Name:    "a validity that is over is negative",
		File:    "prometheus/collector.go",
		Old:     "max(0, r.Left.Seconds())",
		New:     "r.Left.Seconds()",
		Package: "prometheus",
		Tests:   "^TestARoundThatWasDecidedTooLate",
	},
	{
		Name: "names are no labels",
		File: "prometheus/series.go",
		Old: `	if c.name != nil {
		return []string{l.kind, l.mode, l.name}
	}
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestNamesThatAreTooManyAreOthers",
	},
	{
		Name:    "names that are no text are labels",
		File:    "prometheus/series.go",
		Old:     `strings.ToValidUTF8(c.name(name), "\uFFFD")`,
		New:     "strings.Clone(c.name(name))",
		Package: "prometheus",
		Tests:   "^TestANameThatIsNoText",
	},
	{
		Name: "every name has its series",
		File: "prometheus/collector.go",
		Old: `other, maxNames
`,
		New: `other, 1<<30
`,
		Package: "prometheus",
		Tests:   "^TestNamesThatAreTooManyAreOthers",
	},
	{
		Name: "readers have no series before the first",
		File: "prometheus/collector.go",
		Old: `				c.series.of(label{kind: kind, mode: "read"})
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestEverythingIsZero|^TestNothingThatIsKnown|^TestEachKind",
	},
	{
		Name:    "buckets that are out of order are found by the first lock",
		File:    "prometheus/collector.go",
		Old:     "	prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: s.buckets})\n",
		New:     "",
		Package: "prometheus",
		Tests:   "^TestBucketsThatAre",
	},
	{
		Name:    "buckets of holds cannot be set",
		File:    "prometheus/collector.go",
		Old:     `"How long locks were held.", s.buckets, "outcome")`,
		New:     `"How long locks were held.", prometheus.DefBuckets, "outcome")`,
		Package: "prometheus",
		Tests:   "^TestBucketsAre",
	},
	{
		Name: "the oldest wait is not described",
		File: "prometheus/collector.go",
		Old: `	to <- c.oldest
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestTheDocumented|^TestNamesAreAs|^TestEverything",
	},
	{
		Name:    "how long nodes took is not collected",
		File:    "prometheus/collector.go",
		Old:     "c.renewals, c.requests, c.trips,",
		New:     "c.renewals, c.requests,",
		Package: "prometheus",
		Tests:   "^TestHowLongNodesTook",
	},
	{
		Name: "one of two waits that began together ends both",
		File: "prometheus/waits.go",
		Old: `	if w.began[began]--; w.began[began] == 0 {
		delete(w.began, began)
	}
`,
		New: `	delete(w.began, began)
`,
		Package: "prometheus",
		Tests:   "^TestOneOfTwoWaits",
	},
	{
		Name: "a value is made twice",
		File: "prometheus/table.go",
		Old: `	if v, ok := t.values()[k]; ok {
		return v // another goroutine has added it: a gauge must go down where it went up
	}
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestAKeyKeepsItsValue",
	},
	{
		Name: "contentions are not counted",
		File: "prometheus/collector.go",
		Old: `	s.contentions.Inc()
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestHowLocksCame|^TestTheOldestWait",
	},
	{
		Name: "observers are not told of renewals",
		File: "prometheus/collector.go",
		Old: `		Renewed:   c.renewed,
`,
		New:     "",
		Package: "prometheus",
		Tests:   "^TestAServerThatStops",
	},
}
