package main

// commandMutants are bugs in the command line.
var commandMutants = []Mutant{
	{
		Name:    "a name in use as another kind is an ordinary failure",
		File:    "cmd/holdfast/grant.go",
		Old:     `return exit(exitUsage, fmt.Errorf("%w; take one`,
		New:     `return exit(exitFailed, fmt.Errorf("%w; take one`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name:    "a loss exits with the code of the command",
		File:    "cmd/holdfast/run.go",
		Old:     `return exit(exitLost, fmt.Errorf("lock %q was lost while the command ran`,
		New:     `return exit(code, fmt.Errorf("lock %q was lost while the command ran`,
		Package: "cmd/holdfast",
		Tests:   "^TestForcedLockEndsTheCommand$",
	},
	{
		Name:    "a loss of a leader that only the release finds is a success",
		File:    "cmd/holdfast/elect.go",
		Old:     "	case unseen != nil: // it",
		New:     "	case false: // it",
		Package: "cmd/holdfast",
		Tests:   "^TestLossThatOnlyTheReleaseFindsIsNoReasonToLeadAgain$",
	},
	{
		Name: "a loss that only the release finds is a success",
		File: "cmd/holdfast/run.go",
		Old: `	case lost == nil && errors.Is(released, lock.ErrLost):
`,
		New: `	case lost != nil && errors.Is(released, lock.ErrLost):
`,
		Package: "cmd/holdfast",
		Tests:   "^TestLossThatOnlyTheReleaseFindsIsALoss$",
	},
	{
		Name: "a release that failed is not told",
		File: "cmd/holdfast/run.go",
		Old: `		events.warn(unreleased(released))
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestReleaseThatFailsIsTold$",
	},
	{
		Name: "the code of the command is forgotten",
		File: "cmd/holdfast/run.go",
		Old: `	case code != 0:
		return exit(code, nil)
`,
		New: `	case code > 255:
		return exit(code, nil)
`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "a conflict is told though nobody wants to know",
		File: "cmd/holdfast/run.go",
		Old: `	case j.conflict == 0:
		return nil, nil, exit(0, nil)
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "every failure is a conflict",
		File: "cmd/holdfast/run.go",
		Old: `	case codeOf(err) != exitConflict:
		return nil, nil, err
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name:    "a conflict has its own code for ever",
		File:    "cmd/holdfast/run.go",
		Old:     "return nil, nil, exit(j.conflict, err)",
		New:     "return nil, nil, exit(exitConflict, err)",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "two kinds of lock at once",
		File: "cmd/holdfast/run.go",
		Old: `	case len(kinds) > 1:
		return usagef("%s are different kinds of lock: choose one", strings.Join(kinds, " and "))
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "--at-least is ignored",
		File: "cmd/holdfast/run.go",
		Old: `	if j.atLeast > 0 {
		j.wish.options`,
		New: `	if j.atLeast > 0 && false {
		j.wish.options`,
		Package: "cmd/holdfast",
		Tests:   "^TestAtLeastKeepsTheLockTaken$",
	},
	{
		Name: "--note is ignored",
		File: "cmd/holdfast/run.go",
		Old: `	if j.note != "" {
`,
		New: `	if j.note != "" && false {
`,
		Package: "cmd/holdfast",
		Tests:   "^TestSessionsOfTheDocumentation$",
	},
	{
		Name:    "a time to wait may be negative",
		File:    "cmd/holdfast/run.go",
		Old:     "if err != nil || d < 0 {",
		New:     "if err != nil {",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "a lock is held for longer than --max-hold",
		File: "cmd/holdfast/run.go",
		Old: `	case j.hasMaxHold && j.atLeast > j.maxHold:
`,
		New: `	case j.hasMaxHold && j.atLeast > 2*j.maxHold:
`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "the second try is without a limit",
		File: "cmd/holdfast/grant.go",
		Old: `		once.wait = 0
`,
		New: `		once.wait = forever
`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "a try waits",
		File: "cmd/holdfast/grant.go",
		Old: `	if w.wait == 0 {
		return l.TryLock(ctx)
	}
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "a try for permits waits",
		File: "cmd/holdfast/grant.go",
		Old: `	if w.wait == 0 {
		acquire = s.TryAcquire
	}
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestKindsOfLock$",
	},
	{
		Name: "--fair is ignored",
		File: "cmd/holdfast/grant.go",
		Old: `	case w.fair:
		return fair.New`,
		New: `	case w.fair && w.shared:
		return fair.New`,
		Package: "cmd/holdfast",
		Tests:   "^TestSignalEndsTheWait$",
	},
	{
		Name:    "readers are writers",
		File:    "cmd/holdfast/grant.go",
		Old:     "w.options...).RLocker()",
		New:     "w.options...)",
		Package: "cmd/holdfast",
		Tests:   "^TestKindsOfLock$",
	},
	{
		Name: "the time of --max-hold never comes",
		File: "cmd/holdfast/runner.go",
		Old: `		s.until = began.Add(r.flags.maxHold)
`,
		New: `		s.until = time.Time{}
		_ = began
`,
		Package: "cmd/holdfast",
		Tests:   "^TestMaxHoldEndsTheCommand$",
	},
	{
		Name:    "slots of a holdfast around this one are inherited",
		File:    "cmd/holdfast/runner.go",
		Old:     `if !strings.HasPrefix(v, slotsEnv+"=") {`,
		New:     "if true {",
		Package: "cmd/holdfast",
		Tests:   "^TestSlotsAreNotInherited$",
	},
	{
		Name:    "slots are separated by spaces",
		File:    "cmd/holdfast/runner.go",
		Old:     `strings.Trim(strings.ReplaceAll(fmt.Sprint(g.slots), " ", ","), "[]")`,
		New:     `strings.Trim(fmt.Sprint(g.slots), "[]")`,
		Package: "cmd/holdfast",
		Tests:   "^TestCommandIsToldItsLock$",
	},
	{
		Name:    "SIGKILL comes at the deadline",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "kill := deadline.Add(-s.margin)",
		New:     "kill := deadline",
		Package: "cmd/holdfast",
		Tests:   "^TestGroupIsEndedBeforeTheDeadline$",
	},
	{
		Name: "a lease that is lost is not looked at",
		File: "cmd/holdfast/supervisor.go",
		Old: `	case err != nil:
		// The keys`,
		New: `	case err != nil && now.After(deadline):
		// The keys`,
		Package: "cmd/holdfast",
		Tests:   "^TestGroupIsEndedBeforeTheDeadline$",
	},
	{
		Name:    "a loss gives no grace",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "s.end(err, now.Add(s.grace))",
		New:     "s.end(err, now)",
		Package: "cmd/holdfast",
		Tests:   "^TestGroupIsEndedBeforeTheDeadline$",
	},
	{
		Name:    "SIGKILL is sent once",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "return now.Add(killAgain)",
		New:     "return now.Add(time.Hour)",
		Package: "cmd/holdfast",
		Tests:   "^TestGroupIsEndedBeforeTheDeadline$",
	},
	{
		Name:    "one that was stopped is not told to go on at its end",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "s.told(err, s.group.end(syscall.SIGCONT))",
		New:     "s.told(err)",
		Package: "cmd/holdfast",
		Tests:   "^TestGroupIsEndedBeforeTheDeadline$",
	},
	{
		Name:    "Ctrl-Z stops the renewals",
		File:    "cmd/holdfast/signals.go",
		Old:     "append(too, forwarded...)",
		New:     "forwarded",
		Package: "cmd/holdfast",
		Tests:   "^TestCtrlZDoesNotStopTheRenewal$",
	},
	{
		Name:    "a second Ctrl-C is one more SIGINT",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "if s.interrupts++; s.interrupts > 1 {",
		New:     "if s.interrupts++; s.interrupts > 2 {",
		Package: "cmd/holdfast",
		Tests:   "^TestSecondInterruptKills$",
	},
	{
		Name: "signals are not passed on",
		File: "cmd/holdfast/supervisor.go",
		Old: `	err := s.group.signal(sig)
	switch`,
		New: `	var err error
	switch`,
		Package: "cmd/holdfast",
		Tests:   "^TestSignalsReachTheGroup$",
	},
	{
		Name:    "one that was stopped gets SIGTERM and no SIGCONT",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "err = cmp.Or(err, s.group.signal(syscall.SIGCONT)) // one",
		New:     "_ = err // one",
		Package: "cmd/holdfast",
		Tests:   "^TestStoppedGroupEnds$",
	},
	{
		Name:    "denied signals are told of each time",
		File:    "cmd/holdfast/supervisor.go",
		Old:     "\tif err == nil || s.denied {",
		New:     "\tif err == nil {",
		Package: "cmd/holdfast",
		Tests:   "^TestPartThatCannotBeSentSignalsIsToldOf$",
	},
	{
		Name: "every loss has the reason notRenewed",
		File: "cmd/holdfast/supervisor.go",
		Old: `	case l.Reason == lock.ReasonGone:
		return "gone"
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestForcedLockEndsTheCommand$",
	},
	{
		Name: "a signal does not end the wait",
		File: "cmd/holdfast/signals.go",
		Old: `					cancel()
					return
`,
		New: `					return
`,
		Package: "cmd/holdfast",
		Tests:   "^TestSignalEndsTheWait$",
	},
	{
		Name: "the lock is released before the group has gone",
		File: "cmd/holdfast/group.go",
		Old: `		g.await()
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestLockIsHeldUntilTheGroupIsGone$",
	},
	{
		Name:    "wait is never stopped",
		File:    "cmd/holdfast/signals.go",
		Old:     "append(too, forwarded...)",
		New:     "append(append(too, syscall.SIGTSTP), forwarded...)",
		Package: "cmd/holdfast",
		Tests:   "^TestWaitCanBeStopped$",
	},
	{
		Name:    "what a server answers steers the terminal",
		File:    "cmd/holdfast/status.go",
		Old:     `oneLine(n.Address+": "+n.words(v.minority(n)))`,
		New:     `n.Address+": "+n.words(v.minority(n))`,
		Package: "cmd/holdfast",
		Tests:   "^TestStatusSteersNoTerminal$",
	},
	{
		Name: "unlock ends holds that it does not show",
		File: "cmd/holdfast/status.go",
		Old: `		held = "held by " + strings.Join(ids, " and ")
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestUnlockShowsWhatItEnds$",
	},
	{
		Name:    "doctor does not try the channels of queues",
		File:    "cmd/holdfast/doctor_try.go",
		Old:     "{keys.Channel(), lua.ClientChannels(a.prefix) + uuid.NewString()}",
		New:     "{keys.Channel()}",
		Package: "cmd/holdfast",
		Tests:   "^TestDoctorTellsWhatIsWrong$",
	},
	{
		Name:    "doctor publishes nothing",
		File:    "cmd/holdfast/doctor_try.go",
		Old:     "return c.Publish(ctx, channel, \"\").Err()",
		New:     "return nil",
		Package: "cmd/holdfast",
		Tests:   "^TestDoctorTellsWhatIsWrong$",
	},
	{
		Name:    "a prefix that no lock can have is the servers' fault",
		File:    "cmd/holdfast/client.go",
		Old:     `return nil, usagef("--prefix %q: %w"`,
		New:     `return nil, fmt.Errorf("--prefix %q: %w"`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name:    "a candidate is called after its shell",
		File:    "cmd/holdfast/elect.go",
		Old:     "e.candidate = e.defaultLabel(e.words)",
		New:     "e.candidate = new(lockFlags).defaultLabel(e.words)",
		Package: "cmd/holdfast",
		Tests:   "^TestCandidateIsTheLabelByDefault$",
	},
	{
		Name:    "a zombie keeps the lock",
		File:    "cmd/holdfast/group_linux.go",
		Old:     "if p.group == g.pid && !p.dead {",
		New:     "if p.group == g.pid {",
		Package: "cmd/holdfast",
		Tests:   "^TestZombieKeepsNoLock$",
	},
	{
		Name:    "the command survives holdfast",
		File:    "cmd/holdfast/group_linux.go",
		Old:     ", Pdeathsig: syscall.SIGKILL}",
		New:     "}",
		Package: "cmd/holdfast",
		Tests:   "^TestCommandDiesWithHoldfast$",
	},
	{
		Name:    "the command is in the group of holdfast",
		File:    "cmd/holdfast/group_linux.go",
		Old:     "Setpgid: true, ",
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestSignalsReachTheGroup$",
	},
	{
		Name: "a command that a signal has ended succeeded",
		File: "cmd/holdfast/group.go",
		Old: `	if g.status.Signaled() {
		return exitSignalBase + int(g.status.Signal())
	}
`,
		New: `	if g.status.Signaled() {
		return 0
	}
`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "a command that cannot be executed is not found",
		File: "cmd/holdfast/group.go",
		Old: `return "", exit(exitCannotRun, err)
	case errors.Is(err, exec.ErrNotFound)`,
		New: `return "", exit(exitNotFound, err)
	case errors.Is(err, exec.ErrNotFound)`,
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name: "names steer the terminal",
		File: "cmd/holdfast/output.go",
		Old: `		if unicode.IsPrint(r) {
`,
		New: `		if unicode.IsPrint(r) || r == 0x1b {
`,
		Package: "cmd/holdfast",
		Tests:   "^TestErrorsSteerNoTerminal$",
	},
	{
		Name: "stdout that cannot be written is a success",
		File: "cmd/holdfast/output.go",
		Old: `	if s.err == nil {
		s.err = err
	}
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestOutputThatCannotBeWrittenIsAnError$",
	},
	{
		Name:    "a hold that lingers is not found by the id that is shown",
		File:    "cmd/holdfast/unlock.go",
		Old:     "holds = []string{v.known(hold)}",
		New:     "holds = []string{hold}",
		Package: "cmd/holdfast",
		Tests:   "^TestUnlockEndsAHoldThatLingers",
	},
	{
		Name:    "a version that cannot be written is a wrong command line",
		File:    "cmd/holdfast/root.go",
		Old:     "if err != nil && !a.parsed && a.stdout.err == nil {",
		New:     "if err != nil && !a.parsed {",
		Package: "cmd/holdfast",
		Tests:   "^TestOutputThatCannotBeWrittenIsAnError$",
	},
	{
		Name:    "a grace that does not fit the TTL",
		File:    "cmd/holdfast/grace.go",
		Old:     "case grace > maxGrace(ttl):",
		New:     "case grace > ttl:",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name:    "a TTL beyond the restart guard",
		File:    "cmd/holdfast/lockflags.go",
		Old:     "case guard > 0 && f.ttl > guard:",
		New:     "case guard > 0 && f.ttl > 2*guard:",
		Package: "cmd/holdfast",
		Tests:   "^TestTTLFitsTheRestartGuard$",
	},
	{
		Name:    "more permits than there are",
		File:    "cmd/holdfast/lockflags.go",
		Old:     "take < 1 || of < take {",
		New:     "take < 1 {",
		Package: "cmd/holdfast",
		Tests:   "^TestExitCodes$",
	},
	{
		Name:    "the guard is not given to the client",
		File:    "cmd/holdfast/client.go",
		Old:     "lock.WithRestartGuard(a.guard)}",
		New:     "lock.WithRestartGuard(0)}",
		Package: "cmd/holdfast",
		Tests:   "^TestDoctorTellsWhichServersTheRestartGuardKeepsOut$",
	},
	{
		Name: "one server as two nodes is too few servers",
		File: "cmd/holdfast/client.go",
		Old: `return nil, exit(exitUsage, err)
`,
		New: `return nil, exit(exitNoQuorum, err)
`,
		Package: "cmd/holdfast",
		Tests:   "^TestServerThatIsGivenTwiceIsAnInvalidCommandLine$",
	},
	{
		Name:    "passwords are printed",
		File:    "cmd/holdfast/servers.go",
		Old:     "name := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}",
		New:     "name := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path}",
		Package: "cmd/holdfast",
		Tests:   "^TestPasswordsAreNeverPrinted$",
	},
	{
		Name:    "what follows an & in a password is printed",
		File:    "cmd/holdfast/servers.go",
		Old:     `}) || strings.Contains(u.RawQuery, "password") && strings.Contains(text, "unexpected option") {`,
		New:     `}) {`,
		Package: "cmd/holdfast",
		Tests:   "^TestPasswordsAreNeverPrinted$",
	},
	{
		Name: "replicas are read from",
		File: "cmd/holdfast/parameters.go",
		Old: `		case slices.Contains(elsewhere, name):
			return fmt.Errorf("%s is for reading from replicas, and locks need the master", name)
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestServerURLs$",
	},
	{
		Name:    "a Sentinel has the port of a server",
		File:    "cmd/holdfast/servers.go",
		Old:     "sentinelPort) // and",
		New:     `"6379") // and`,
		Package: "cmd/holdfast",
		Tests:   "^TestSentinelHasAPortOfItsOwn$",
	},
	{
		Name: "the name of a server is that of the first Sentinel",
		File: "cmd/holdfast/servers.go",
		Old: `		o.TLSConfig.ServerName = "" // that of the first Sentinel; each server has its own
`,
		New:     "",
		Package: "cmd/holdfast",
		Tests:   "^TestSentinelMasterWithTLS$",
	},
	{
		Name: "a certificate that nobody has signed is accepted",
		File: "cmd/holdfast/parameters.go",
		Old: `t.skipVerify
`,
		New: `true
`,
		Package: "cmd/holdfast",
		Tests:   "^TestServerWithTLS$",
	},
	{
		Name:    "doctor tries a master with names of others",
		File:    "cmd/holdfast/doctor_try.go",
		Old:     "master.Options().Addr != address {",
		New:     "master == nil {",
		Package: "cmd/holdfast",
		Tests:   "^TestDoctorBlamesTheMasterOfAClusterThatIsFull$",
	},
	{
		Name:    "doctor blames the first master",
		File:    "cmd/holdfast/doctor.go",
		Old:     "	return exams[max(i, 0)]",
		New:     "	return exams[min(max(i, 0), 0)]",
		Package: "cmd/holdfast",
		Tests:   "^TestTheMasterThatAnErrorIsAboutIsBlamed$",
	},
}
