package main

// redlockClusterMutants are bugs in a Cluster as a node: its shards, and slots that move.
var redlockClusterMutants = []Mutant{
	{
		Name:    "a lane is retired while it looks for a replica",
		File:    "redlock/lane.go",
		Old:     "l.busy > 0 || l.seeking ||",
		New:     "l.busy > 0 ||",
		Package: "redlock",
		Tests:   "^TestALaneThatIsNeededIsNotRetired$",
	},
	{
		Name: "a Cluster is one lane",
		File: "redlock/shards.go",
		Old: `	master, err := s.client.MasterForKey(s.node.group.ctx, key)
	if err != nil {
		return s.node.lane`,
		New: `	master, err := s.client.MasterForKey(s.node.group.ctx, key)
	if true || err != nil {
		return s.node.lane`,
		Package: "lock",
		Tests:   "^TestAShardThatIsAwayTakesNothingFromTheOthers$",
	},
	{
		Name:    "a Cluster with a shard away is not met",
		File:    "redlock/shards.go",
		Old:     "	if well == nil {",
		New:     "	if well == nil || len(missing) > 0 {",
		Package: "lock",
		Tests:   "^TestClientStartsWithAShardAway$",
	},
	{
		Name:    "missing shards are not told of",
		File:    "redlock/shards.go",
		Old:     "	if len(missing) > 0 {",
		New:     "	if false {",
		Package: "lock",
		Tests:   "^TestClientStartsWithAShardAway$",
	},
	{
		Name:    "ASK is followed as MOVED",
		File:    "redlock/redirect.go",
		Old:     `o.asking = word == "ASK"`,
		New:     "o.asking = false",
		Package: "lock",
		Tests:   "^TestALock",
	},
	{
		Name:    "a moving slot's renewals are given up",
		File:    "redlock/redirect.go",
		Old:     `if o.narrows() {`,
		New:     `if false {`,
		Package: "lock",
		Tests:   "^TestALockIsKeptWhileItsSlotMoves$",
	},
	{
		Name:    "so are those of a slot that moves to a server without slots",
		File:    "redlock/redirect.go",
		Old:     `case n.shards != nil && isPassing(err) && o.narrows():`,
		New:     `case false:`,
		Package: "lock",
		Tests:   "^TestALockIsKeptAndGivenBackWhileItsSlotMovesToANewServer$",
	},
	{
		Name:    "redirections are not followed",
		File:    "redlock/redirect.go",
		Old:     `	case "MOVED", "ASK":`,
		New:     `	case "NEVER":`,
		Package: "lock",
		Tests:   "^TestALockIsKeptWhileItsSlotMoves$",
	},
	{
		Name: "nobody asks who has taken over from a master that is gone",
		File: "redlock/redirect.go",
		Old: `		s.reload() // another may have its slots by now
`,
		New:     "",
		Package: "lock",
		Tests:   "^TestLocksOutliveTheFailoverOfTheirShard$/^master_killed_reentrant$",
	},
	{
		Name:    "a master that is silent is not looked for before it refuses connections",
		File:    "redlock/sweep.go",
		Old:     "	quiet := len(late)+len(dropped) > 0 && l.node.of != nil",
		New:     "	quiet := false",
		Package: "redlock",
		Tests:   "^TestANewMasterIsFoundThough",
	},
	{
		Name:    "only what was sent to a silent master tells that it is",
		File:    "redlock/sweep.go",
		Old:     "	quiet := len(late)+len(dropped) > 0 && l.node.of != nil",
		New:     "	quiet := len(late) > 0 && l.node.of != nil",
		Package: "redlock",
		Tests:   "^TestANewMasterIsFoundThoughNothingMoreIsSentToTheOldOne$",
	},
	{
		Name:    "a silent master makes a question of each timeout",
		File:    "redlock/shards.go",
		Old:     "now.Sub(s.reloaded) >= reloadAfter && !s.closed",
		New:     "!s.closed",
		Package: "redlock",
		Tests:   "^TestASilentMasterMakesFewQuestions$",
	},
	{
		Name:    "the replica of a silent master is not asked",
		File:    "redlock/replica.go",
		Old:     "	if replica != l && known && l.isDown() {",
		New:     "	if replica == nil && known {",
		Package: "redlock",
		Tests:   "^TestAReplicaThatTakesOverIsFoundThoughTheClientWaitsForTheSilentMaster$",
	},
	{
		Name:    "a silent replica is asked on and on",
		File:    "redlock/shards.go",
		Old:     "replica != nil && !replica.isSilent()",
		New:     "replica != nil",
		Package: "redlock",
		Tests:   "^TestAMasterThatIsBackIsFoundBehindItsReplica$/^stopped$",
	},
	{
		Name: "a replica that knows of no slot has the last word",
		File: "redlock/redirect.go",
		Old: `			return own // whose replica n is; or it has taken over meanwhile
`,
		New: `			return nil
`,
		Package: "redlock",
		Tests:   "^TestAMasterThatIsBackIsFoundBehindItsReplica$/^shut_out$",
	},
}
