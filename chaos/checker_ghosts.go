package main

import (
	"slices"
	"time"
)

// checkGhosts finds one that reads on a node, or has permits there, though its process was killed so long ago that nothing of it can have
// been left: somebody else keeps it there.
func checkGhosts(h *History) []Violation {
	if h.Cell.has(ClockJump, ClockDrift) {
		return nil // what a TTL is worth is not known
	}
	var found []Violation
	var told []string
	clients := h.clients()
	within := 2*h.Cell.TTL + tidyWithin // a lease may have been extended by no more than that
	for _, l := range h.Looks {
		for i, s := range l.Nodes {
			for _, hold := range append(slices.Clone(s.Share), s.Kept...) {
				at, killed := h.killed[clients[client(hold)]]
				if !killed || l.From-at < int64(within) || slices.Contains(told, hold) {
					continue
				}
				from := at
				for _, a := range h.ailing(i) {
					if a.from < l.To {
						from = max(from, a.to) // it may have executed then what it was told long ago
					}
				}
				if l.From-from >= int64(within) {
					told = append(told, hold)
					found = append(found, violation(l.From, "%q: hold %s is still there on n%d, whose process was killed at %s, %v before",
						l.Name, hold, i, h.seconds(at), time.Duration(l.From-at).Round(time.Millisecond)))
				}
			}
		}
	}
	return found
}
