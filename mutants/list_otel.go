package main

// otelMutants are bugs in the metrics and spans of OpenTelemetry.
var otelMutants = []Mutant{
	{
		Name:    "a re-entry is one lease more",
		File:    "otel/metrics.go",
		Old:     "if a.Handover != lock.HandoverReentry {",
		New:     "if true {",
		Package: "otel",
		Tests:   "^TestHowLocksCame|^TestNothingIsLeft",
	},
	{
		Name: "a wait that is over goes on",
		File: "otel/metrics.go",
		Old: `		m.waiters.Add(ctx, -1, s.plain.add...)
`,
		New:     "",
		Package: "otel",
		Tests:   "^TestNothingIsLeft|^TestHowLocksCame",
	},
	{
		Name: "the oldest wait is one that is over",
		File: "otel/metrics.go",
		Old: `		s.waiting.end(a.Start)
`,
		New:     "",
		Package: "otel",
		Tests:   "^TestTheOldestWait|^TestNothingIsLeft",
	},
	{
		Name:    "a close is a loss",
		File:    "otel/metrics.go",
		Old:     "r != lock.ReasonUnlocked && r != lock.ReasonClosed",
		New:     "r != lock.ReasonUnlocked",
		Package: "otel",
		Tests:   "^TestACloseIsNoLoss",
	},
	{
		Name: "losses are not counted",
		File: "otel/metrics.go",
		Old: `		m.losses.Add(ctx, 1, s.loss(h.Reason).add...)
`,
		New:     "",
		Package: "otel",
		Tests:   "^TestLossesHaveAReason",
	},
	{
		Name: "a hold that ends stays a lease",
		File: "otel/metrics.go",
		Old: `	m.leases.Add(ctx, -1, s.plain.add...)
`,
		New:     "",
		Package: "otel",
		Tests:   "^TestNothingIsLeft|^TestHowLocksCame",
	},
	{
		Name: "failed renewals are confirmed",
		File: "otel/metrics.go",
		Old: `	which := s.failed
	if r.Confirmed {
`,
		New: `	which := s.failed
	if true {
`,
		Package: "otel",
		Tests:   "^TestAServerThatStops",
	},
	{
		Name: "names are attributes though nobody maps them",
		File: "otel/series.go",
		Old: `	if m.name != nil {
		s.attrs = append`,
		New: `	if true {
		s.attrs = append`,
		Package: "otel",
		Tests:   "^TestNamesAreNo",
	},
	{
		Name: "a failure has no type",
		File: "otel/series.go",
		Old: `	if isFailure(outcome) {
		attrs`,
		New: `	if false {
		attrs`,
		Package: "otel",
		Tests:   "^TestFailuresAreOfAType",
	},
	{
		Name:    "a TryLock that finds the lock taken has failed",
		File:    "otel/series.go",
		Old:     `return outcome != "acquired" && outcome != "locked"`,
		New:     `return outcome != "acquired"`,
		Package: "otel",
		Tests:   "^TestFailuresAreOfAType|^TestASpanTellsOfFailure",
	},
	{
		Name: "losses begin with the first",
		File: "otel/series.go",
		Old: `		m.losses.Add(context.Background(), 0, loss.add...)
`,
		New: `		_, _ = loss, context.Background()
`,
		Package: "otel",
		Tests:   "^TestLossesHaveAReason|^TestEachKind|^TestTheDocumented",
	},
	{
		Name: "every name has its series",
		File: "otel/metrics.go",
		Old: `other, maxNames
`,
		New: `other, 1<<30
`,
		Package: "otel",
		Tests:   "^TestNamesThatAreTooManyAreOthers",
	},
	{
		Name:    "a timeout of a node is no failure",
		File:    "otel/metrics.go",
		Old:     `if outcome == "timeout" || outcome == "error" {`,
		New:     `if outcome == "error" {`,
		Package: "otel",
		Tests:   "^TestANodeThatDoesNotAnswerIsAFailure",
	},
	{
		Name: "one of two waits that began together ends both",
		File: "otel/waits.go",
		Old: `	if w.began[began]--; w.began[began] == 0 {
		delete(w.began, began)
	}
`,
		New: `	delete(w.began, began)
`,
		Package: "otel",
		Tests:   "^TestOneOfTwoWaits",
	},
	{
		Name:    "a span ends when it is told of",
		File:    "otel/tracing.go",
		Old:     "c.span.End(trace.WithTimestamp(a.Start.Add(a.Waited)))",
		New:     "c.span.End()",
		Package: "otel",
		Tests:   "^TestASpanIsAsLong",
	},
	{
		Name:    "a span does not tell of a failure",
		File:    "otel/tracing.go",
		Old:     "c.span.SetStatus(codes.Error, outcome)",
		New:     "c.span.SetStatus(codes.Ok, outcome)",
		Package: "otel",
		Tests:   "^TestASpanTellsOfFailure",
	},
	{
		Name: "a span has no token",
		File: "otel/tracing.go",
		Old: `, tokenKey.Int64(l.Token()))
		if`,
		New: `)
		if`,
		Package: "otel",
		Tests:   "^TestAnAcquisitionIsASpan",
	},
	{
		Name:    "the span of the caller is not told of a loss",
		File:    "otel/tracing.go",
		Old:     "isLoss(h.Reason) && c.caller.IsRecording()",
		New:     "isLoss(h.Reason) && c.span.IsRecording()",
		Package: "otel",
		Tests:   "^TestTheCallersSpan|^TestWhatIsNotSampled",
	},
	{
		Name: "contention is not told",
		File: "otel/tracing.go",
		Old: `		c.span.AddEvent("holdfast.contended")
`,
		New: `		_ = c
`,
		Package: "otel",
		Tests:   "^TestASpanTellsOfContention",
	},
	{
		Name:    "a nil option is passed over",
		File:    "otel/observer.go",
		Old:     `return lock.Observer{}, errors.New("otelholdfast: an option is nil")`,
		New:     "continue",
		Package: "otel",
		Tests:   "^TestWhatIsNilIsRefused",
	},
	{
		Name: "observers are not told of waits",
		File: "otel/observer.go",
		Old: `			m.waits(ctx, a)
`,
		New:     "",
		Package: "otel",
		Tests:   "^TestTheOldestWait",
	},
}
