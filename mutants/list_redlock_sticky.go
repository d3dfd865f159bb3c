package main

// redlockStickyMutants are bugs in what keeps a connection for a caller's next command.
var redlockStickyMutants = []Mutant{
	{
		Name:    "no connection is kept",
		File:    "redlock/sticky.go",
		Old:     "	s.conn = f.conn\n	l.arm(s.idle(l.timeout))\n	return nil\n",
		New:     "	return f.conn\n",
		Package: "redlock",
		Tests:   "^TestCommandAfterCommandGoesOverAConnectionThatIsKept$",
	},
	{
		Name:    "a connection is kept for a command that comes much later",
		File:    "redlock/sticky.go",
		Old:     "follows := now.Sub(s.used) < closely &&",
		New:     "follows := now.Sub(s.used) < time.Hour &&",
		Package: "redlock",
		Tests:   "^TestAConnectionIsLookedAtAfterAPause$|^TestARestartBetweenCommandsFailsNone$",
	},
	{
		Name:    "a connection that failed is kept",
		File:    "redlock/sticky.go",
		Old:     "if end == failed || f.conn == nil {",
		New:     "if f.conn == nil {",
		Package: "redlock",
		Tests:   "^TestAConnectionThatFailsIsNotKept$|^TestAConnectionOverWhichANodeRefusesIsNotKept$",
	},
	{
		Name:    "a connection is kept for as long as it is used",
		File:    "redlock/sticky.go",
		Old:     "now.Sub(s.taken) >= keepTime",
		New:     "now.Sub(s.taken) < 0",
		Package: "redlock",
		Tests:   "^TestAConnectionIsBackInThePoolOnceASecond$",
	},
	{
		Name:    "the last connections are kept, too",
		File:    "redlock/sticky.go",
		Old:     "n.connections() >= ample",
		New:     "true",
		Package: "redlock",
		Tests:   "^TestAClientOfFewConnectionsKeepsThemInItsPool$",
	},
	{
		Name:    "a connection that nobody uses stays away from the pool",
		File:    "redlock/sweep.go",
		Old:     "l.sticky.conn != nil && overdue(",
		New:     "false && overdue(",
		Package: "redlock",
		Tests:   "^TestAConnectionIsBackInThePoolSoonAfterTheLastCommand$",
	},
	{
		Name:    "Close leaves a connection out of the pool",
		File:    "redlock/lane.go",
		Old:     "	putBack(conn)\n",
		New:     "	_ = conn\n",
		Package: "redlock",
		Tests:   "^TestCloseGivesTheConnectionBack$",
	},
	{
		Name:    "a lane that sends for callers keeps no connection",
		File:    "redlock/runner.go",
		Old:     "	if l.busy == 1 && len(ops) == 1 {\n		if c, ok",
		New:     "	if l.busy < 1 {\n		if c, ok",
		Package: "redlock",
		Tests:   "^TestCommandAfterCommandGoesOverAConnectionThatIsKept$",
	},
}
