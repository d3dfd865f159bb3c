package main

import "time"

// A Mutant is a bug that is planted into the library of a worker, to show that a
// checker finds it.
type Mutant struct {
	Name  string
	By    string // the checker that must find it
	Cell  Cell
	Seed  uint64 // the tries begin with the next one
	Tries int    // if it needs more than others: it is a matter of milliseconds
	Edits []Edit
}

// mutants are the planted bugs.
func mutants() []Mutant {
	return []Mutant{
		{
			Name: "release without looking who owns it",
			By:   "exclusion",
			Cell: cell("stop workers", 1, nil, StopWorker),
			Edits: []Edit{{"lua/release.lua",
				"found = redis.call('HDEL', KEYS[1], ARGV[1])",
				"found = redis.call('DEL', KEYS[1])"}},
		},
		{
			Name: "second round of the token skipped",
			By:   "tokens",
			Cell: cell("kill nodes, AOF always", 3, disk(Always), KillNode),
			Edits: []Edit{{"lock/attempt.go",
				"	if agree >= g.Quorum() {",
				"	if agree >= 1 {"}},
		},
		{
			Name: "a minority's renewal counts",
			By:   "exclusion",
			Cell: cell("workers cut off", 3, longer, Isolate),
			Edits: []Edit{{"lock/renew.go",
				"\trenewed := !t.ended && found == confirmed",
				"\trenewed := !t.ended && found != gone"}},
		},
		{
			Name: "restart guard ignored",
			By:   "exclusion",
			Cell: cell("kill nodes, nothing on disk, guard", 1, disk(Nothing), KillNode),
			Edits: []Edit{{"lua/guard.lua",
				"  local left = delay / 1000 - (up - 1)",
				"  local left = 0"}},
		},
		{
			Name: "validity counted from the reply",
			By:   "exclusion",
			Cell: patient(1),
			Seed: 2, Tries: 6,
			Edits: []Edit{{"lock/attempt.go",
				"\tvalidity := c.group.Validity(b.Start(), t.ttl)",
				"\tvalidity := c.group.Validity(time.Now(), t.ttl)"}},
		},
		{
			Name: "no look at the clock after the rounds",
			By:   "loss",
			Cell: patient(1),
			Edits: []Edit{{"lock/attempt.go",
				"	if won == nil && !time.Now().Before(validity) {",
				"	if false {"}},
		},
		{
			Name: "loss not signalled",
			By:   "loss",
			Cell: cell("calm", 1, nil),
			Edits: []Edit{
				{"lock/lease.go", "l.reason == ReasonNone && !time.Now().Before(l.deadline)", "false"},
				{"lock/loss.go", "\t\tif !now.Before(l.deadline) {", "\t\tif false && !now.Before(l.deadline) {"},
			},
		},
		{
			Name: "failed attempts not given back",
			By:   "litter",
			Cell: late(3),
			Edits: []Edit{{"lock/attempt.go",
				"\tb := t.vacate(!seen)\n",
				"\tif !seen {\n\t\treturn\n\t}\n\tb := t.vacate(!seen)\n"}},
		},
		{
			Name: "no mark for what may come late",
			By:   "litter",
			Cell: late(3),
			Edits: []Edit{{"redlock/op.go",
				"		if (mark || o.again) && m.Removal != nil {",
				"		if false && mark {"}},
		},
		{
			Name: "removals not owed for longer than the TTL",
			By:   "litter",
			Cell: stalled(1),
			Edits: []Edit{
				{"redlock/op.go",
					"	return now.Before(m.Until) || m.Footprint.open(o.node)",
					"	return now.Before(m.Until)"},
				{"lock/vacate.go", " + g.NodeTimeout() + lastCall)", " + g.NodeTimeout())"},
			},
		},
		{
			Name: "sent again, and counted by increment",
			By:   "counts",
			Cell: cell("replies lost", 1, long, LoseReply),
			Edits: []Edit{{"lua/call.go", "NoRetry() bool { return true }", "NoRetry() bool { return false }"}, {"lua/acquire.lua",
				"  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then\n",
				"  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then\n    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)\n"}},
		},
		{
			Name: "a re-entry counted wrong",
			By:   "model",
			Cell: cell("calm", 1, nil),
			Edits: []Edit{{"lock/hold.go",
				"int32(len(h.leases) + 1)",
				"int32(2*len(h.leases) + 1)"}},
		},
		{
			Name: "a new ticket with each try",
			By:   "order",
			Cell: cell("calm", 3, nil),
			Edits: []Edit{{"lua/queue.lua",
				"  if not mine and final ~= '1' then",
				"  if true then"},
				{"lua/queue.lua", "  if not mine or ticket > mine or final == '1' then", "  if true then"}},
		},
		{
			Name: "tokens do not grow, and anyone may release",
			By:   "register",
			Cell: cell("stop workers", 1, nil, StopWorker),
			Edits: []Edit{
				{"lua/token.lua", "redis.pcall('INCR', key)", "tonumber(redis.pcall('GET', key)) or 1"},
				{"lua/release.lua", "found = redis.call('HDEL', KEYS[1], ARGV[1])", "found = redis.call('DEL', KEYS[1])"},
			},
		},
		{
			Name: "holds not given to nodes that lack them",
			By:   "kept",
			Cell: inTurn(3),
			Edits: []Edit{
				{"lock/renew.go", "	if missing == nil || ended {", "	if true || ended {"},
				{"lock/restore.go", "	case !restored && has > 0 &&", "	case false &&"},
			},
		},
		{
			Name: "keys without a TTL",
			By:   "progress",
			Cell: cell("kill workers", 1, nil, KillWorker),
			Edits: []Edit{{"lua/acquire.lua",
				"redis.call('HSET', KEYS[1], ARGV[1], '1')\nredis.call('PEXPIRE', KEYS[1], ARGV[2])",
				"redis.call('HSET', KEYS[1], ARGV[1], '1')"}},
		},
		{
			Name: "dead waiters keep their turn",
			By:   "progress",
			Cell: cell("kill workers", 1, nil, KillWorker),
			Edits: []Edit{{"lua/queue.lua",
				"      if signs[i] and tonumber(string.match(signs[i], '^%d+')) > now then",
				"      if signs[i] then"}},
		},
		{
			Name: "one lane for all shards",
			By:   "shards",
			Cell: sharded(),
			Edits: []Edit{{"redlock/shards.go",
				"	master, err := s.client.MasterForKey(s.node.group.ctx, key)\n	if err != nil {",
				"	master, err := s.client.MasterForKey(s.node.group.ctx, key)\n	if true || err != nil {"}},
		},
		{
			Name: "tokens given out before a quorum has confirmed them",
			By:   "tokens",
			Cell: passing(1, LoseRequest),
			Edits: []Edit{{"lock/pass.go",
				"	case r.last == r.top || r.stale(now):",
				"	case false:"}},
		},
		{
			Name: "a name passed on for as long as somebody wants it, whatever has become of it",
			By:   "exclusion",
			Cell: passing(3, Isolate),
			Edits: []Edit{
				{"lock/pass.go", ", !t.suits(&next.contender.engine.set, now), r.failed:", ":"},
				{"lock/pass.go", "	case t.due(now):", "	case false:"},
				{"lock/pass.go", "	case r.last == r.top || r.stale(now):", "	case false:"},
				{"lock/pass.go", "h.lease(next.contender.engine, now, t.validity)", "h.lease(next.contender.engine, now, now.Add(t.ttl))"},
			},
		},
		{
			Name: "a lease passed on, and its context not ended",
			By:   "loss",
			Cell: passing(1),
			Edits: []Edit{{"lock/lease.go",
				"h.writes == 0 && h.engine.shared != nil\n	h.mu.Unlock()\n	l.cancel()\n",
				"h.writes == 0 && h.engine.shared != nil\n	h.mu.Unlock()\n	if h.contest.wanted() {\n		defer time.AfterFunc(time.Second, l.cancel)\n	} else {\n		l.cancel()\n	}\n"}},
		},
		{
			Name: "several names are taken in the caller's order",
			By:   "progress",
			Cell: transferring(1),
			Edits: []Edit{{"multi/mutex.go",
				"return cmp.Compare(locks[i].Name(), locks[j].Name())",
				"return 0 * cmp.Compare(locks[i].Name(), locks[j].Name())"}},
		},
		{
			Name: "a part of several names is kept, and renewed, when the call is cancelled",
			By:   "litter",
			Cell: transferring(1),
			Edits: []Edit{{"multi/acquire.go",
				"			a.giveBack(0)\n			return err\n",
				"			return err\n"}},
		},
		{
			Name: "everybody is granted a lock, with the same token",
			By:   "sum",
			Cell: transferring(1),
			Edits: []Edit{
				{"lua/acquire.lua", "  if held[1] then\n    if KEYS[4] then", "  if false then\n    if KEYS[4] then"},
				{"lock/lease.go", "	return l.hold.token\n", "	return 1\n"},
			},
		},
		{
			Name: "a leadership given back before the leader has returned",
			By:   "leaders",
			Cell: electing(1),
			Edits: []Edit{{"election/work.go",
				"		w.cancel(context.Cause(parent))\n",
				"		w.cancel(context.Cause(parent))\n		_ = lease.Unlock(context.WithoutCancel(parent))\n"}},
		},
		{
			Name: "a candidate that stays in the queue after its context has ended",
			By:   "queue",
			Cell: electing(1),
			Edits: []Edit{{"election/election.go",
				"e.mutex.Lock(lock.WithoutOwner(ctx))",
				"e.mutex.Lock(context.WithoutCancel(lock.WithoutOwner(ctx)))"}},
		},
		{
			Name: "a lock is free when it is unlocked, whatever its minimum hold",
			By:   "stays",
			Cell: staying(1, harmless...),
			Edits: []Edit{{"lock/linger.go",
				"	return max(0, time.Until(t.since.Add(t.engine.set.minHold)))",
				"	return 0"}},
		},
		{
			Name: "a lock does not rest after a crash",
			By:   "stays",
			Cell: staying(1, KillWorker, Isolate),
			Edits: []Edit{{"lock/linger.go",
				"time.Duration { return ttl + s.rest }",
				"time.Duration { return ttl }"}},
		},
		{
			Name: "no name is passed on",
			By:   "passing",
			Cell: passing(1),
			Edits: []Edit{{"lock/pass.go",
				"	case next == nil, usurped",
				"	case true, usurped"}},
		},
		{
			Name: "a name passed on for ever",
			By:   "reign",
			Cell: passing(1),
			Edits: []Edit{{"lock/pass.go",
				"	case t.due(now):",
				"	case false:"}},
		},
		{
			Name: "what a waiter is passed that has given up, nobody unlocks",
			By:   "progress",
			Cell: passing(1),
			Edits: []Edit{{"lock/acquire.go",
				"	if l := a.turns.leave(); l != nil {",
				"	if l := a.turns.leave(); l != nil && false {"}},
		},
		{
			Name: "a tenure that is renewed after its last hold",
			By:   "litter",
			Cell: cell("calm", 1, func(c *Cell) { c.Crew, c.Locks = 4, []string{"orders"} }),
			Edits: []Edit{{"lock/pass.go",
				"	ct.even, t.vacant = false, false\n",
				"	ct.even, t.vacant = false, false\n	if next == nil && !usurped && t.holds > 1 {\n		t.hold = &hold{tenure: t}\n		t.hold.lease(&t.engine.set, now, t.validity)\n		t.schedule()\n		return passed, 0\n	}\n"}},
		},
		{
			Name: "fencing counters that never go",
			By:   "residue",
			Cell: cell("calm", 1, func(c *Cell) { c.Duration = 2 * time.Second }),
			Edits: []Edit{
				{"lua/token.lua", "string.format('%.0f', token), 'PX', life)", "string.format('%.0f', token))"},
				{"lua/token.lua", "    redis.call('PEXPIRE', key, life)\n", ""},
				{"lua/reserve.lua", "redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])", "redis.call('SET', KEYS[2], ARGV[2])"},
			},
		},
		{
			Name: "an extension that finds nothing creates it",
			By:   "flush",
			Cell: cell("flushall", 1, nil, FlushAll),
			Edits: []Edit{{"lua/extend.lua",
				"  return -redis.call('EXISTS', KEYS[1])",
				"  if redis.call('EXISTS', KEYS[1]) == 1 then return -1 end\n  redis.call('HSET', KEYS[1], ARGV[1], '1')"}},
		},
	}
}
