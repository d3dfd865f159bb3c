package main

import "time"

const (
	// maxReign is how long a process may pass a name on to itself, whatever it knows of others.
	maxReign = 3 * time.Second
	// dawdle is how late a goroutine of a busy machine may write down what it was passed.
	dawdle = 500 * time.Millisecond
)

// checkReign finds processes that pass a name on to themselves for so long that others are shut
// out (U4).
func checkReign(h *History) []Violation {
	var found []Violation
	first := make(map[string]*Call)
	holds := make(map[string]bool)
	for _, c := range h.leases() {
		if holds[c.Hold] || isShared(c.Name) {
			continue // entered again; those who read may share for as long as they like
		}
		holds[c.Hold] = true
		id := tenure(c.Hold)
		began := first[id]
		if began == nil {
			first[id] = c
			continue
		}
		reign := time.Duration(c.Return - began.Return)
		if c.passed() && reign > maxReign+dawdle && !h.stopped(c.Proc, began.Return, c.Return) {
			found = append(found, violation(c.Return, "%q: %s was passed on within its process %v after it was granted",
				c.Name, c.Hold, reign.Round(time.Millisecond)))
			first[id] = c // told once for each such time
		}
	}
	return found
}

// checkPassing finds that a run did not do what it is for: have most holds passed on.
func checkPassing(h *History) []Violation {
	if !h.Cell.Passing {
		return nil
	}
	holds := make(map[string]bool)
	passed := 0
	for _, c := range h.leases() {
		if !holds[c.Hold] && c.passed() {
			passed++
		}
		holds[c.Hold] = true
	}
	if 2*passed > len(holds) {
		return nil
	}
	return []Violation{violation(h.End, "only %d of %d holds were passed on within a process", passed, len(holds))}
}
