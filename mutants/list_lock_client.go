package main

// lockClientMutants are bugs in the client: its settings, its end and its report on the nodes.
var lockClientMutants = []Mutant{
	{
		Name:    "a TTL that is all drift is accepted",
		File:    "lock/setting.go",
		Old:     "case ttl <= drift:",
		New:     "case ttl < drift:",
		Package: "lock",
		Tests:   "^TestBoundsOfATTL$",
	},
	{
		Name:    "a TTL as long as the retention is accepted",
		File:    "lock/setting.go",
		Old:     "case ttl >= c.retention:",
		New:     "case ttl > c.retention:",
		Package: "lock",
		Tests:   "^TestBoundsOfATTL$",
	},
	{
		Name:    "a TTL as long as the guard is refused",
		File:    "lock/setting.go",
		Old:     "ttl > c.guard:",
		New:     "ttl >= c.guard:",
		Package: "lock",
		Tests:   "^TestBoundsOfATTL$",
	},
	{
		Name: "Close keeps what is held",
		File: "lock/client.go",
		Old: `	tenures := c.all()
`,
		New: `	tenures := c.all()[:0]
`,
		Package: "lock",
		Tests:   "^TestCloseReleasesWhatIsHeld$",
	},
	{
		Name: "Close does not end renewals",
		File: "lock/client.go",
		Old: `	c.watchdog.Close()
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestNothingIsRenewedAfterClose$",
	},
	{
		Name: "a closed client begins calls",
		File: "lock/core.go",
		Old: `	if c.closed {
		return ErrClosed
`,
		New: `	if false {
		return ErrClosed
`,
		Package: "lock",
		Tests:   "^TestClosedClientStartsNothing$",
	},
	{
		Name:    "Shutdown waits for nobody",
		File:    "lock/shutdown.go",
		Old:     "	if !isClosed(idle) {",
		New:     "	if false {",
		Package: "lock",
		Tests:   "^TestShutdownLetsHoldersFinishAndGrantsNothing$",
	},
	{
		Name: "Shutdown does not end the waits",
		File: "lock/core.go",
		Old: `	close(c.closing)
	if c.held`,
		New:     "	if c.held",
		Package: "lock",
		Tests:   "^TestShutdownLetsHoldersFinishAndGrantsNothing$",
	},
	{
		Name: "Shutdown of an idle client waits",
		File: "lock/core.go",
		Old: `	if c.held == 0 {
		close(c.idle)
	}
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestShutdownOfAnIdleClientIsAClose$",
	},
	{
		Name:    "Shutdown that is cut short says nothing",
		File:    "lock/shutdown.go",
		Old:     "			if held > 0 {",
		New:     "			if false {",
		Package: "lock",
		Tests:   "^TestShutdownThatIsCutShortClosesTheClient$",
	},
	{
		Name:    "the last holder's end is not noticed",
		File:    "lock/core.go",
		Old:     "if c.held--; c.held == 0 && c.draining {",
		New:     "if c.held--; false {",
		Package: "lock",
		Tests:   "^TestShutdownDoesNotWaitForWhatIsLost$",
	},
	{
		Name: "Health asks a quorum only",
		File: "lock/health.go",
		Old: `		All: true,
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestHealthTellsWhoVotesAndHowManyMayGo$",
	},
	{
		Name:    "a node that refuses is not up",
		File:    "lock/health.go",
		Old:     "return a.Reply != nil || errors.As(a.Err, &refusal)",
		New:     "return a.Reply != nil || false && errors.As(a.Err, &refusal)",
		Package: "lock",
		Tests:   "^TestHealthTells",
	},
	{
		Name:    "Spare counts half of the nodes as enough",
		File:    "lock/health.go",
		Old:     "return votes - (len(nodes)/2 + 1)",
		New:     "return votes - len(nodes)/2",
		Package: "lock",
		Tests:   "^TestHealthTells",
	},
	{
		Name:    "a drift that is no number is accepted",
		File:    "lock/option.go",
		Old:     "case !(s.driftFactor >= 0 && s.driftFactor < 1):",
		New:     "case s.driftFactor < 0 || s.driftFactor >= 1:",
		Package: "lock",
		Tests:   "^TestSettingsThatCannotWorkAreRefused$",
	},
	{
		Name:    "a heartbeat of a moment is accepted",
		File:    "lock/setting.go",
		Old:     "case s.beat < minBeat:",
		New:     "case s.beat <= 0:",
		Package: "lock",
		Tests:   "^TestSettingsThatCannotWorkAreRefused$",
	},
}
