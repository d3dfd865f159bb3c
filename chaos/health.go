package main

import (
	"cmp"
	"slices"
)

// ailing are the times at which something was wrong with a node, or on some worker's
// way to it. A server that the restart guard keeps out is not well either.
func (h *History) ailing(node int) []span {
	var list []span
	for _, f := range h.Faults {
		if f.Node != node && f.Node != all {
			continue
		}
		to := f.Ended
		if to == 0 {
			to = forever
		}
		switch f.Kind {
		case KillNode:
			if h.Cell.Guard > 0 && to < forever {
				to += int64(h.Cell.Guard) + 2e9 // uptimes are whole seconds
			}
		case StopNode, LoseRequest, LoseReply, Slow, CutUp, CutDown, ClockJump, FlushAll, Reset:
		default:
			continue
		}
		list = append(list, span{from: f.Began, to: to})
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return list
}

// voters are the servers that vote about a lock.
func (h *History) voters(name string) []int {
	if shard, ok := h.Shards[name]; ok {
		return []int{shard}
	}
	all := make([]int, h.Cell.N)
	for i := range all {
		all[i] = i
	}
	return all
}

// A tick is a moment at which something about a lock changes.
type tick struct {
	at      int64
	waiting int // this many more
	ailing  int // this many nodes more
	held    int // this many valid leases more
}

// stall is the longest time for which somebody waited for a lock, a quorum of nodes
// was well, and nobody had it: it was free, or its holder had died.
func (h *History) stall(name string, counts func(*Call) bool) (longest, at int64) {
	var ticks []tick
	for _, i := range h.voters(name) {
		for _, s := range h.ailing(i) {
			ticks = append(ticks, tick{at: s.from, ailing: 1}, tick{at: s.to, ailing: -1})
		}
	}
	for _, c := range h.Calls {
		if c.Name != name || !counts(c) {
			continue
		}
		if c.Blocks && c.Invoke > 0 {
			ticks = append(ticks, h.waits(c)...)
		}
		if end := h.end(c); c.granted() && c.Return < end {
			ticks = append(ticks, tick{at: c.Return, held: 1}, tick{at: end, held: -1})
		}
	}
	slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.at, b.at) })
	var waiting, ailing, held int
	var since int64
	for _, t := range ticks {
		if t.at > h.End {
			break
		}
		if since > 0 && t.at-since > longest {
			longest, at = t.at-since, since
		}
		waiting += t.waiting
		ailing += t.ailing
		held += t.held
		switch {
		case waiting == 0 || held > 0 || ailing > h.Cell.N-h.Cell.quorum():
			since = 0
		case since == 0:
			since = t.at
		}
	}
	return longest, at
}

// waits are the times at which a call waited, and its process was there to.
func (h *History) waits(c *Call) []tick {
	until := h.End
	if c.Return > 0 {
		until = c.Return
	}
	if at, dead := h.killed[c.Proc]; dead {
		until = min(until, at)
	}
	ticks := []tick{{at: c.Invoke, waiting: 1}, {at: until, waiting: -1}}
	for _, s := range h.away {
		from, to := max(s.from, c.Invoke), min(s.to, until)
		if s.what == c.Proc && from < to {
			ticks = append(ticks, tick{at: from, waiting: -1}, tick{at: to, waiting: 1})
		}
	}
	return ticks
}
