package main

// checkFlush finds a lease that lived on after all nodes had forgotten it: FLUSHALL
// takes away what exclusion rests on, and two may hold the lock until the first of them
// learns of its loss. That must be with its next renewal: none that began after the flush
// may succeed, so no deadline is later than a TTL after it.
func checkFlush(h *History) []Violation {
	var found []Violation
	for _, f := range h.Faults {
		if f.Kind != FlushAll || f.Node != all && h.Cell.N > 1 || f.Ended == 0 {
			continue
		}
		for _, c := range h.leases() {
			if c.Return < f.Began && h.end(c) > f.Ended && c.Deadline > f.Ended+c.TTL {
				found = append(found, violation(f.Ended, "%q: all nodes were flushed at %s, and %s", c.Name, h.seconds(f.Ended), h.tell(c)))
			}
		}
	}
	return found
}
