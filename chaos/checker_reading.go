package main

import (
	"strings"

	"github.com/holdfast-go/holdfast/lock"
)

// checkReading finds a value that changed while somebody read it, under a lease and with a token that were good
// both times; and one that reads and asked to write, and was not refused at once.
func checkReading(h *History) []Violation {
	var found []Violation
	type reader struct {
		proc string
		op   int64
	}
	reads := make(map[reader]bool)
	for _, c := range h.Calls {
		if c.Reads {
			reads[reader{c.Proc, c.Op}] = true
		}
		if !c.Upgrade || c.Return == 0 {
			continue
		}
		// Its lease may have been lost, or its client closed.
		refused := strings.Contains(c.Err, lock.ErrUpgrade.Error()) || strings.Contains(c.Err, lock.ErrLost.Error()) ||
			strings.Contains(c.Err, lock.ErrReleased.Error()) || strings.Contains(c.Err, lock.ErrClosed.Error())
		if !refused {
			found = append(found, violation(c.Return, "%q: %s reads and asked to write, and was told %q", c.Name, c.id(), c.Err))
		}
	}
	first := make(map[reader]Access)
	for _, a := range h.Store {
		r := reader{a.Proc, a.Op}
		if !a.OK || a.Write || !reads[r] {
			continue
		}
		before, again := first[r]
		if again && before.Value != a.Value {
			found = append(found, violation(a.At, "%q: %s/%d read %d at %s and %d at %s, with token %d",
				a.Name, a.Proc, a.Op, before.Value, h.seconds(before.At), a.Value, h.seconds(a.At), a.Token))
		}
		first[r] = a
	}
	return found
}
