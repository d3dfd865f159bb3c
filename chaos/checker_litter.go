package main

import (
	"strings"
	"time"
)

// tidyWithin is how long a node that is well may have the key of a hold that nobody
// has any more: a removal that is not confirmed is sent again after a second at most.
const tidyWithin = 1700 * time.Millisecond

// checkLitter finds keys of holds that were never granted, or are over, on nodes that
// can be reached (I5). Where workers are killed or stopped nobody is there to clean up, nor while the machine is too
// busy for them.
func checkLitter(h *History) []Violation {
	if h.Cell.has(StopWorker, KillWorker) {
		return nil
	}
	var found []Violation
	wanted, clients := h.wanted(), h.clients()
	type place struct {
		name string
		node int
	}
	since := make(map[place]map[string]int64) // by hold: since when it is there
	told := make(map[string]bool)
	for _, l := range h.Looks {
		for i, s := range l.Nodes {
			if !s.OK {
				continue
			}
			p := place{l.Name, i}
			before := since[p]
			since[p] = make(map[string]int64, len(s.Share)+1)
			for _, hold := range s.holds() {
				seen, known := before[hold]
				if !known {
					seen = l.From
				}
				since[p][hold] = seen
				proc := clients[client(hold)]
				from := max(seen, wanted[hold], h.together(l.Name, proc, seen), h.awake(proc, l.To))
				for _, a := range h.ailing(i) {
					if a.from < l.To {
						from = max(from, a.to)
					}
				}
				if l.From-from > int64(tidyWithin) && !told[hold] {
					told[hold] = true
					found = append(found, violation(l.From, "%q: n%d still has hold %s, which nobody has since %s", l.Name, i, hold, h.seconds(from)))
				}
			}
		}
	}
	return found
}

// awake tells since when, as of a moment, the machine has had time for a process, or all if it is "", and for the
// network: who does not run gives nothing back.
func (h *History) awake(proc string, before int64) (since int64) {
	for _, s := range h.asleep {
		if (s.what == proc || proc == "" || s.what == network) && s.from < before {
			since = max(since, s.to)
		}
	}
	return since
}

// together tells until when a process, or any if it is "", wanted a name at a moment together with others that it may
// have waited for: until the last of its calls at that moment returned.
func (h *History) together(name, proc string, at int64) (until int64) {
	if !h.Cell.Transfer {
		return 0
	}
	for _, c := range h.Calls {
		if c.Name == name && (c.Proc == proc || proc == "") && c.Invoke <= at && at <= c.returned() {
			until = max(until, c.returned())
		}
	}
	return until
}

// client is the lock client that made a hold.
func client(hold string) string {
	id, _, _ := strings.Cut(hold, ":")
	return id
}

// clients tells the processes of all lock clients that were granted anything.
func (h *History) clients() map[string]string {
	procs := make(map[string]string)
	for _, c := range h.leases() {
		procs[client(c.Hold)] = c.Proc
	}
	return procs
}

// wanted tells until when each tenure was somebody's.
func (h *History) wanted() map[string]int64 {
	until := make(map[string]int64)
	for _, c := range h.leases() {
		end := int64(forever)
		switch {
		case c.Unlocked > 0:
			end = c.Unlocked
		case c.Lost > 0:
			end = c.Lost
		}
		until[tenure(c.Hold)] = max(until[tenure(c.Hold)], end)
	}
	return until
}

// checkResidue finds keys that were left when everybody had gone, tokens aside.
func checkResidue(h *History) []Violation {
	if len(h.Left) == 0 {
		return nil
	}
	return []Violation{violation(h.End, "left behind: %s", strings.Join(h.Left, ", "))}
}
