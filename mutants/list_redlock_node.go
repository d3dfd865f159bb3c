package main

// redlockNodeMutants are bugs in what is known of a node: who it is, and whether it answers.
var redlockNodeMutants = []Mutant{
	{
		Name: "one server may be two nodes",
		File: "redlock/identity.go",
		Old: `	case other != nil:
`,
		New: `	case other != nil && false:
`,
		Package: "redlock",
		Tests:   "^TestOneServerUnderTwoAddressesIsRefused$|^TestAnAddressThatMoves",
	},
	{
		Name:    "a replica votes",
		File:    "redlock/identity.go",
		Old:     `replication["role"] == "slave" {`,
		New:     "false {",
		Package: "redlock",
		Tests:   "^TestReplicaIsRefusedWithItsRole$",
	},
	{
		Name:    "an old server votes",
		File:    "redlock/identity.go",
		Old:     `version != "" && older(version) {`,
		New:     "false {",
		Package: "redlock",
		Tests:   "^TestServerThatIsTooOldIsRefusedWithItsVersion$",
	},
	{
		Name:    "a new connection is not asked whose it is",
		File:    "redlock/identity.go",
		Old:     `return n.group.register(n, server["run_id"])`,
		New:     "return nil",
		Package: "redlock",
		Tests:   "^TestAnAddressThatMovesToAnotherNodesServerHasNoVote$",
	},
	{
		Name:    "a new server is not told",
		File:    "redlock/identity.go",
		Old:     "	if n.servers++; n.servers > 1 {",
		New:     "	if n.servers++; false {",
		Package: "redlock",
		Tests:   "^TestANewServerAtANodesAddressIsTold$",
	},
	{
		Name:    "a node that refuses scripts is only missing",
		File:    "redlock/handshake.go",
		Old:     "case isFinal(a.Err):",
		New:     "case false:",
		Package: "redlock",
		Tests:   "^TestUserWhoMayNotRunScriptsIsRefused$",
	},
	{
		Name:    "a node's outage is logged again and again",
		File:    "redlock/outage.go",
		Old:     "l.isDown() || ",
		New:     "",
		Package: "lock",
		Tests:   "^TestNodeThatGoesDownAndComesBackIsLoggedOnceEach$",
	},
	{
		Name:    "a node's return is not logged",
		File:    "redlock/outage.go",
		Old:     "	if !l.isDown() {",
		New:     "	if true {",
		Package: "lock",
		Tests:   "^TestNodeThatGoesDownAndComesBackIsLoggedOnceEach$",
	},
	{
		Name:    "a refusal is an outage",
		File:    "redlock/outage.go",
		Old:     "!errors.As(err, &refusal) && ",
		New:     "(true || !errors.As(err, &refusal)) && ",
		Package: "lock",
		Tests:   "^TestNodeThatRefusesACommandIsNotDown$",
	},
	{
		Name: "the end of an outage is not told",
		File: "redlock/outage.go",
		Old: `	l.node.group.config.Back()
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestNodesThatComeBackEmptyOneAfterTheOtherCostNoLease$",
	},
	{
		Name:    "a node that refuses is logged each time",
		File:    "redlock/refusal.go",
		Old:     "err != nil && r.since.IsZero()",
		New:     "err != nil",
		Package: "lock",
		Tests:   "^TestANodeThatRefusesToGrantIsLoggedOnce$",
	},
	{
		Name:    "a node that refuses is not logged",
		File:    "redlock/op.go",
		Old:     "		n.noteRefusal(err)\n",
		New:     "",
		Package: "lock",
		Tests:   "^TestANodeThatRefusesToGrantIsLoggedOnce$",
	},
}
