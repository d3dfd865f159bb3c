package main

import (
	"strings"
	"time"
)

// tidyWithin is how long a node that is well may have the key of a hold that nobody
// has any more: a removal that is not confirmed is sent again after a second at most.
const tidyWithin = 1700 * time.Millisecond

// checkLitter finds keys of holds that were never granted, or are over, on nodes that
// can be reached (I5). Where workers are killed or stopped nobody is there to clean up.
func checkLitter(h *History) []Violation {
	if h.Cell.has(StopWorker, KillWorker) {
		return nil
	}
	var found []Violation
	wanted := h.wanted()
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
				from := max(seen, wanted[hold], h.together(l.Name, hold, seen))
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

// together tells until when a process wanted a name that it had at a moment, together with others
// that it may have waited for: until the last of its calls at that moment returned.
func (h *History) together(name, hold string, at int64) (until int64) {
	if !h.Cell.Transfer {
		return 0
	}
	proc := h.client(hold)
	for _, c := range h.Calls {
		if c.Name == name && (c.Proc == proc || proc == "") && c.Invoke <= at && at <= c.returned() {
			until = max(until, c.returned())
		}
	}
	return until
}

// client is the process whose lock client made a hold; "" if that was never granted any.
func (h *History) client(hold string) string {
	id, _, _ := strings.Cut(hold, ":")
	for _, c := range h.Calls {
		if other, _, _ := strings.Cut(c.Hold, ":"); other == id {
			return c.Proc
		}
	}
	return ""
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
