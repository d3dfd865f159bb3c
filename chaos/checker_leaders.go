package main

import (
	"cmp"
	"slices"
)

// checkLeaders finds two leaders at once: a function that was called to lead while an earlier one
// had not returned. That one is excused if it had lost the leadership by then, which ends at its
// deadline, whatever the function still does. That the leadership was given back meanwhile is no
// excuse: it must not be (I1).
func checkLeaders(h *History) []Violation {
	if !h.Cell.Election {
		return nil
	}
	var found []Violation
	latest := make(map[string]*Call) // by election: of those that were called before, who leads for longest
	terms := h.leases()
	slices.SortFunc(terms, func(a, b *Call) int { return cmp.Compare(a.Return, b.Return) })
	for _, b := range terms {
		if h.leads(b) <= b.Return {
			continue
		}
		a := latest[b.Name]
		if a != nil && b.Return < h.leads(a) && h.excuse(min(a.Start, b.Start), b.Return) == nil {
			found = append(found, violation(b.Return, "%q: %s, and %s lead at once", b.Name, h.tell(a), h.tell(b)))
		}
		if a == nil || h.leads(b) > h.leads(a) {
			latest[b.Name] = b
		}
	}
	return found
}

// leads is until when a leader surely led.
func (h *History) leads(c *Call) int64 {
	if c.Lost == 0 || c.Over != "" {
		return h.end(c)
	}
	given := *c // back, which is no loss
	given.Lost = 0
	return h.end(&given)
}
