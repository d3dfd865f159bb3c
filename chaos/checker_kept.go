package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// recovered is how long a node may take, once it is back, to have what is held: its clients
// connect again, notice that it had forgotten, and renew.
const recovered = time.Second

// checkKept finds leases that were lost though a quorum of nodes was well all the time that
// they were held, and so was their process. Where each lease is held for so long, nothing
// excuses a request that failed either: waiters were patient. Shards of a Cluster are for
// [checkShards].
func checkKept(h *History) []Violation {
	if !h.Cell.kept() || h.Cell.Shards > 0 {
		return nil
	}
	var found []Violation
	var unwell [][]span
	for i := range h.Cell.N {
		unwell = append(unwell, h.unwell(i))
	}
	for _, c := range h.Calls {
		switch {
		case c.granted() && c.Over != "":
			at := cmp.Or(c.Lost, c.Unlocked)
			renewed := max(c.Start, at-c.TTL-int64(recovered)) // since when it would have been, at the latest
			// A release that a busy machine delivers after the deadline finds nothing, for good reason:
			// nothing is renewed once Unlock is called.
			late := c.Lost == 0 && c.Unlocked > c.Deadline
			if lostForNothing(c.Over) && !late && !h.untold(c) && !h.dozed(c.Proc, renewed, at) && !h.excused(c.Proc, unwell, c.Start, at) {
				found = append(found, violation(at, "%q: %s lost it though a quorum was well all the time: %s", c.Name, h.tell(c), c.Over))
			}
		case h.Cell.Hold > 0 && c.Return > 0 && !c.granted() && !h.dozed(c.Proc, h.since(c), c.Return) && !h.excused(c.Proc, unwell, h.since(c), c.Return):
			found = append(found, violation(c.Return, "%q: %s was refused though a quorum was well all the time: %s", c.Name, c.id(), c.Err))
		case h.Cell.Hold > 0 && c.Failed != "" && !h.dozed(c.Proc, c.Unlock, c.Unlocked) && !h.excused(c.Proc, unwell, c.Start, c.Unlocked):
			found = append(found, violation(c.Unlocked, "%q: %s failed to unlock though a quorum was well all the time: %s", c.Name, c.id(), c.Failed))
		}
	}
	return found
}

// untold tells whether a release may have found less than a quorum for good reason: a node has forgotten the hold, and
// that the guard has kept it out since could not be heard from it within the node timeout.
func (h *History) untold(c *Call) bool {
	return c.Lost == 0 && h.Cell.Guard > 0 && c.Unlocked-c.Unlock > int64(h.Cell.Timeout) &&
		slices.ContainsFunc(h.Faults, func(f Fault) bool { return f.Kind == KillNode && c.Start < f.Began && f.Began < c.Unlocked })
}

// since is when a call began, or the lease that it is nested in.
func (h *History) since(c *Call) int64 {
	for _, outer := range h.Calls {
		if c.Within > 0 && outer.Proc == c.Proc && outer.Op == c.Within {
			return outer.Start
		}
	}
	return c.Invoke
}

// lostForNothing tells whether a lease ended for a reason that only nodes can be to blame for.
func lostForNothing(why string) bool {
	return why == lock.ReasonNotRenewed.String() || why == lock.ReasonGone.String()
}

// unwell is when a node was ailing, or had just recovered, or did not answer the monitor in time.
func (h *History) unwell(node int) []span {
	list := h.ailing(node)
	for i := range list {
		if list[i].to < forever {
			list[i].to += int64(recovered)
		}
	}
	for _, l := range h.Looks {
		if !l.Nodes[node].OK {
			list = append(list, span{from: l.From, to: l.To})
		}
	}
	return list
}

// excused tells whether at some time between two moments no quorum was well, or the process
// was stopped.
func (h *History) excused(proc string, unwell [][]span, from, to int64) bool {
	overlaps := func(s span) bool { return s.from < to && from < s.to }
	if h.stopped(proc, from, to) {
		return true
	}
	var ticks []tick
	for _, list := range unwell {
		// A node counts once, however much is wrong with it.
		var last span
		for _, s := range append(sorted(list), span{from: forever, to: forever}) {
			if s.from <= last.to && last.to > 0 {
				last.to = max(last.to, s.to)
				continue
			}
			if last.to > 0 && overlaps(last) {
				ticks = append(ticks, tick{at: max(last.from, from), ailing: 1}, tick{at: last.to, ailing: -1})
			}
			last = s
		}
	}
	slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.at, b.at) })
	ailing := 0
	for _, t := range ticks {
		if ailing += t.ailing; ailing > h.Cell.N-h.Cell.quorum() && t.at < to {
			return true
		}
	}
	return false
}

func sorted(list []span) []span {
	return slices.SortedFunc(slices.Values(list), func(a, b span) int { return cmp.Compare(a.from, b.from) })
}
