package main

// watchdogMutants are bugs in the schedule of renewals and ends.
var watchdogMutants = []Mutant{
	{
		Name:    "an end is early by the slack",
		File:    "watchdog/watchdog.go",
		Old:     "ward.endAt <= now {",
		New:     "ward.endAt <= now+instant(slack) {",
		Package: "watchdog",
		Tests:   "^TestEndIsNeverEarly$",
	},
	{
		Name:    "no renewal shares a batch",
		File:    "watchdog/watchdog.go",
		Old:     "ward.renewAt > now+instant(slack) {",
		New:     "ward.renewAt > now {",
		Package: "watchdog",
		Tests:   "^TestWardsDueTogetherShareABatch$",
	},
	{
		Name:    "renewals are early by more than the slack",
		File:    "watchdog/watchdog.go",
		Old:     "const slack = 2 * time.Millisecond",
		New:     "const slack = 4 * time.Millisecond",
		Package: "watchdog",
		Tests:   "^TestDatesAreKeptToTheMillisecond$",
	},
	{
		Name:    "the later date counts",
		File:    "watchdog/watchdog.go",
		Old:     "w.renewAt < w.endAt {",
		New:     "w.renewAt > w.endAt {",
		Package: "watchdog",
		Tests:   "^TestWardIsDueAtTheEarlierOfItsDates$",
	},
	{
		Name:    "an earlier date wakes nobody",
		File:    "watchdog/watchdog.go",
		Old:     "w.next == never || due < w.next {",
		New:     "w.next == never {",
		Package: "watchdog",
		Tests:   "^TestSetReplacesBothDates$",
	},
	{
		Name: "renewals come before ends",
		File: "watchdog/watchdog.go",
		Old: `		var afters []func()
`,
		New: `		w.renew(due)
		due = nil
		var afters []func()
`,
		Package: "watchdog",
		Tests:   "^TestEndsComeBeforeRenewals$",
	},
	{
		Name: "a ward is renewed again and again",
		File: "watchdog/watchdog.go",
		Old: `		ward.renewAt = never
		due`,
		New: `		ward.renewAt = now + instant(time.Second)
		due`,
		Package: "watchdog",
		Tests:   "^TestWardEndsOnTimeWhenItsRenewalMovesNoDate$",
	},
	{
		Name: "a ward that has ended is renewed",
		File: "watchdog/watchdog.go",
		Old: `			heap.Pop(&w.wards)
			ward.renewAt, ward.endAt = never, never
`,
		New: `			ward.endAt = never
			heap.Fix(&w.wards, 0)
`,
		Package: "watchdog",
		Tests:   "^TestPastDatesAreDueAtOnce$",
	},
	{
		Name: "what is set after Close is called",
		File: "watchdog/watchdog.go",
		Old: `	if w.closed {
		return
	}
	ward`,
		New:        "	ward",
		Equivalent: "the goroutine that calls has ended",
	},
	{
		Name: "Close waits for nobody",
		File: "watchdog/watchdog.go",
		Old: `	<-w.done
`,
		New:     "",
		Package: "watchdog",
		Tests:   "^TestCloseWaitsForTheCallbackThatRuns$",
	},
	{
		Name:    "a forgotten ward wakes the watchdog each time",
		File:    "watchdog/watchdog.go",
		Old:     "	if w.next > now && (next == never || w.next < next) {",
		New:     "	if false {",
		Package: "watchdog",
		Tests:   "^TestWardsThatAreForgottenAtOnceWakeNobody$",
	},
	{
		Name: "a ward that is forgotten stays",
		File: "watchdog/watchdog.go",
		Old: `			heap.Remove(&w.wards, ward.index-1)
`,
		New:     "",
		Package: "watchdog",
		Tests:   "^TestForgottenWardIsNotCalled$",
	},
	{
		Name: "a ward that is set again stays where it was",
		File: "watchdog/watchdog.go",
		Old: `		heap.Fix(&w.wards, ward.index-1)
`,
		New:     "",
		Package: "watchdog",
		Tests:   "^TestScheduleFollowsDatesThatAreSetAgain$",
	},
	{
		Name:    "the latest comes first",
		File:    "watchdog/schedule.go",
		Old:     "s[i].due() < s[j].due()",
		New:     "s[i].due() > s[j].due()",
		Package: "watchdog",
		Tests:   "^TestScheduleKeepsTheEarliestFirst$",
	},
	{
		Name: "wards lose their places",
		File: "watchdog/schedule.go",
		Old: `	s[i].index, s[j].index = i+1, j+1
`,
		New:     "",
		Package: "watchdog",
		Tests:   "^TestScheduleKeepsTheEarliestFirst$",
	},
}
