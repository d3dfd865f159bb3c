package main

import "fmt"

// A Violation is a promise that a history shows broken.
type Violation struct {
	Checker string
	At      int64
	Text    string
}

// A checker looks for one kind of violation.
type checker struct {
	name    string
	promise string // what it holds the library to
	// running tells that it can judge a history whose run has not ended.
	running bool
	check   func(*History) []Violation
}

var checkers = []checker{
	{"exclusion", "no two valid leases of one lock overlap", true, checkExclusion},
	{"tokens", "tokens are unique, and ordered as their holds are", true, checkTokens},
	{"loss", "a lease is over at its deadline, and says so", true, checkLoss},
	{"model", "one lock with an owner, a count and a token could have answered like this", true, checkModel},
	{"register", "no update of a fenced store is lost", true, checkRegister},
	{"reading", "what one reads does not change while it reads, and one that reads is never made to wait for itself", true, checkReading},
	{"sum", "what goes from one account to another is neither lost nor made", true, checkSum},
	{"leaders", "nobody is called to lead before another one has returned, or lost the leadership", true, checkLeaders},
	{"stays", "a lock stays taken for its minimum hold, and for its rest after a crash", true, checkStays},
	{"order", "a fair lock serves first who came first", true, checkOrder},
	{"counts", "no node counts a lease twice", true, checkCounts},
	{"litter", "a node that can be reached keeps no key that nobody has", true, checkLitter},
	{"ghosts", "nobody keeps on a node who read there, or had permits, and was killed", true, checkGhosts},
	{"queue", "who does not wait any more has no place in a queue", true, checkQueue},
	{"flush", "no lease outlives by more than a TTL that every node forgot it", true, checkFlush},
	{"kept", "no lease is lost while a quorum is well", true, checkKept},
	{"progress", "who waits is served while a quorum is well", true, checkProgress},
	{"shards", "a shard of a Cluster that is away costs the others nothing", true, checkShards},
	{"reign", "a process passes a name on for a while, and not for ever", true, checkReign},
	{"turns", "nobody is shut out of a name that others take in turns", true, checkTurns},
	{"passing", "what is to be passed on within a process is", false, checkPassing},
	{"residue", "in the end nothing is left but tokens", false, checkResidue},
}

// check has every checker look at a history.
func check(h *History) []Violation {
	var found []Violation
	for _, c := range checkers {
		for _, v := range c.check(h) {
			v.Checker = c.name
			found = append(found, v)
		}
	}
	return found
}

func violation(at int64, format string, args ...any) Violation {
	return Violation{At: at, Text: fmt.Sprintf(format, args...)}
}

// seconds is a moment as the time since the start of the run.
func (h *History) seconds(at int64) string {
	if at == forever {
		return "the end"
	}
	return fmt.Sprintf("%.4fs", float64(at-h.Start)/1e9)
}
