package main

import "time"

// maxTurns is how long a process may wait for a name while others have it again and again: each of them may have it for 50 ms
// and two round trips before it lets all others have it, and the machine is busy.
const maxTurns = 3 * time.Second

// checkTurns finds processes that are shut out, where some are farther away than others (U4).
func checkTurns(h *History) []Violation {
	if len(h.Cell.Trips) == 0 {
		return nil
	}
	var found []Violation
	leases := h.leases()
	for _, c := range h.Calls {
		end := min(c.returned(), h.End)
		waited := time.Duration(end - c.Invoke)
		if !c.Blocks || waited <= maxTurns {
			continue
		}
		holds := 0
		for _, l := range leases {
			if l.Name == c.Name && l.Proc != c.Proc && l.Count == 1 && c.Invoke < l.Return && l.Return < end {
				holds++
			}
		}
		if holds > 1 {
			found = append(found, violation(end, "%q: %s asked at %s and waited for %v, while others had it %d times",
				c.Name, c.id(), h.seconds(c.Invoke), waited.Round(time.Millisecond), holds))
		}
	}
	return found
}
