package main

// checkQueue finds places in a queue that nobody waits in any more (I5): a process has no more of
// them than calls whose context has not ended. Where workers are killed or stopped nobody is
// there to leave.
func checkQueue(h *History) []Violation {
	if !h.Cell.Election || h.Cell.has(StopWorker, KillWorker) {
		return nil
	}
	type place struct {
		name, proc string
		node       int
	}
	var found []Violation
	since := make(map[place]int64) // that there are too many
	told := make(map[place]bool)
	clients := h.clients()
	for _, l := range h.Looks {
		for i, s := range l.Nodes {
			if !s.OK {
				continue
			}
			places := make(map[string]int)
			for _, w := range s.Queue {
				places[clients[client(w.Hold)]]++
			}
			for _, proc := range h.procs() {
				p := place{l.Name, proc, i}
				if places[proc] <= h.waiting(l.Name, proc, l.From) {
					delete(since, p)
					continue
				}
				if since[p] == 0 {
					since[p] = l.From
				}
				from := since[p]
				for _, a := range h.ailing(i) {
					if a.from < l.To {
						from = max(from, a.to)
					}
				}
				if l.From-from > int64(tidyWithin) && !told[p] {
					told[p] = true
					found = append(found, violation(l.From, "%q: %s has %d places in the queue of n%d, and since %s fewer calls that wait",
						l.Name, proc, places[proc], i, h.seconds(from)))
				}
			}
		}
	}
	return found
}

// procs are the processes that have asked for anything.
func (h *History) procs() []string {
	seen := make(map[string]bool)
	var procs []string
	for _, c := range h.Calls {
		if !seen[c.Proc] {
			seen[c.Proc] = true
			procs = append(procs, c.Proc)
		}
	}
	return procs
}

// waiting is how many calls of a process for a name wait at a moment.
func (h *History) waiting(name, proc string, at int64) (n int) {
	for _, c := range h.Calls {
		if c.Name != name || c.Proc != proc || c.Invoke > at || c.returned() < at {
			continue
		}
		if c.Off == 0 || c.Off >= at {
			n++
		}
	}
	return n
}
