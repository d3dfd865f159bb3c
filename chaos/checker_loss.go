package main

import (
	"cmp"
	"time"
)

// checkLoss finds leases that said they were held when their deadline had passed, or
// never said that they were over, after it or after their Unlock (I2); and leases that were over when Lock returned
// them, though nothing had stopped the process on the way.
func checkLoss(h *History) []Violation {
	const slow = int64(250e6) // how long a busy machine may take to let Lock return
	var found []Violation
	for _, c := range h.leases() {
		switch {
		case c.Late > 0:
			found = append(found, violation(c.Late, "%q: %s says at %s that it is held; its deadline was %s, %v before",
				c.Name, c.id(), h.seconds(c.Late), h.seconds(c.Deadline), time.Duration(c.Late-c.Deadline)))
		case c.Silent:
			found = append(found, violation(min(c.Deadline, cmp.Or(c.Unlocked, forever)), "%q: %s does not say that it is over; it was unlocked at %s, its deadline was %s",
				c.Name, c.id(), h.seconds(c.Unlocked), h.seconds(c.Deadline)))
		case c.Return > c.First+slow && !h.stopped(c.Proc, c.Invoke, c.Return):
			found = append(found, violation(c.Return, "%q: %s was granted at %s with a deadline of %s",
				c.Name, c.id(), h.seconds(c.Return), h.seconds(c.First)))
		}
	}
	return found
}
