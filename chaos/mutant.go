package main

import (
	"os"
	"slices"
	"time"
)

// A Mutant is a bug that is planted into the library of a worker, to show that a
// checker finds it.
type Mutant struct {
	Name  string
	By    string // the checker that must find it
	Cell  Cell
	Seed  uint64
	Edits []Edit
}

// A Catch is what became of a mutant.
type Catch struct {
	Mutant Mutant
	Found  []Violation // the first of each checker that found something
	Calls  int         // of Lock and TryLock, until then
	After  time.Duration
}

func (c Catch) caught() bool {
	return slices.ContainsFunc(c.Found, func(v Violation) bool { return v.Checker == c.Mutant.By })
}

// catch runs a mutant until its checker has found it, or its cell is over. A bug shows
// itself only if things go wrong at the right moment, so another seed is tried then.
func catch(m Mutant, tries int) (Catch, error) {
	dir := scratch("mutant")
	defer os.RemoveAll(dir)
	program, err := plant(m, dir)
	if err != nil {
		return Catch{Mutant: m}, err
	}
	c := Catch{Mutant: m}
	for try := range tries {
		c.Mutant.Seed = m.Seed + uint64(try)
		r := Run{Cell: m.Cell, Seed: c.Mutant.Seed, Worker: program}
		r.Until = func(h *History) bool {
			c.look(h, true)
			return c.caught()
		}
		h, err := r.Do()
		if err != nil {
			return c, err
		}
		if c.look(h, h.Healed == 0); c.caught() {
			break
		}
	}
	return c, nil
}

// look notes what the checkers find in h.
func (c *Catch) look(h *History, running bool) {
	c.Found = nil
	c.Calls = len(h.Calls)
	c.After = time.Duration(h.End - h.Start)
	for _, k := range checkers {
		if running && !k.running {
			continue
		}
		if found := k.check(h); len(found) > 0 {
			found[0].Checker = k.name
			c.Found = append(c.Found, found[0])
		}
	}
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
			Cell: cell("kill, AOF always", 3, disk(Always), KillNode),
			Edits: []Edit{{"lock/attempt.go",
				"	if agree >= g.Quorum() {",
				"	if agree >= 1 {"}},
		},
		{
			Name: "a minority's renewal counts",
			By:   "exclusion",
			Cell: cell("isolated workers", 3, long, Isolate),
			Edits: []Edit{{"lock/renew.go",
				"	case b.Won():\n		for",
				"	case true:\n		for"}},
		},
		{
			Name: "restart guard ignored",
			By:   "exclusion",
			Cell: cell("kill, nothing on disk, guard", 1, disk(Nothing), KillNode),
			Edits: []Edit{{"lua/guard.lua",
				"  if delay == '0' then",
				"  if true then"}},
		},
		{
			Name: "validity counted from the reply",
			By:   "exclusion",
			Cell: cell("slow", 1, long, Slow),
			Edits: []Edit{{"lock/attempt.go",
				"	validity := c.group.Validity(b.Start(), h.ttl)",
				"	validity := c.group.Validity(time.Now(), h.ttl)"}},
		},
		{
			Name: "loss not signalled",
			By:   "loss",
			Cell: cell("calm", 1, nil),
			Edits: []Edit{
				{"lock/lease.go", "l.err == nil && !time.Now().Before(l.deadline)", "false"},
				{"lock/hold.go", "		if !now.Before(l.deadline) {", "		if false && !now.Before(l.deadline) {"},
			},
		},
		{
			Name: "failed attempts not given back",
			By:   "litter",
			Cell: late(3),
			Edits: []Edit{{"lock/attempt.go",
				"	b := h.vacate(!seen)\n",
				"	if !seen {\n		return\n	}\n	b := h.vacate(!seen)\n"}},
		},
		{
			Name: "no mark for what may come late",
			By:   "litter",
			Cell: late(3),
			Edits: []Edit{{"redlock/op.go",
				"		if mark && m.Marked != nil {",
				"		if false && mark {"}},
		},
		{
			Name: "counted by increment",
			By:   "counts",
			Cell: cell("lost replies", 1, long, LoseReply, Reset),
			Edits: []Edit{{"lua/acquire.lua",
				"    if tonumber(ARGV[2]) > tonumber(count) then\n      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])\n    end\n",
				"    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)\n"}},
		},
		{
			Name: "a re-entry counted wrong",
			By:   "model",
			Cell: cell("calm", 1, nil),
			Edits: []Edit{{"lock/reenter.go",
				"	count := len(h.leases) + 1\n	over := h.over\n",
				"	count := len(h.leases) + 2\n	over := h.over\n"}},
		},
		{
			Name: "a new ticket with each try",
			By:   "order",
			Cell: cell("calm", 3, nil),
			Edits: []Edit{{"lua/queue.lua",
				"  if ticket == 0 and not mine then",
				"  if true then"},
				{"lua/queue.lua", "  if not mine or ticket > mine or final == '1' then", "  if true then"}},
		},
		{
			Name: "tokens do not grow, and anyone may release",
			By:   "register",
			Cell: cell("stop workers", 1, nil, StopWorker),
			Edits: []Edit{
				{"lua/acquire.lua", "  token = token + 1\n", ""},
				{"lua/release.lua", "found = redis.call('HDEL', KEYS[1], ARGV[1])", "found = redis.call('DEL', KEYS[1])"},
			},
		},
		{
			Name: "keys without a TTL",
			By:   "progress",
			Cell: cell("kill workers", 1, nil, KillWorker),
			Edits: []Edit{{"lua/acquire.lua",
				"redis.call('HSET', KEYS[1], ARGV[1], '1')\nredis.call('PEXPIRE', KEYS[1], ARGV[3])",
				"redis.call('HSET', KEYS[1], ARGV[1], '1')"}},
		},
		{
			Name: "fencing counters that never go",
			By:   "residue",
			Cell: cell("calm", 1, func(c *Cell) { c.Duration = 2 * time.Second }),
			Edits: []Edit{{"lua/acquire.lua",
				"string.format('%.0f', token), 'PX', ARGV[4])",
				"string.format('%.0f', token))"}},
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
