package main

// checkRegister finds an update of the fenced store that was lost: a write that was
// admitted, and was computed from another value than the one it replaced.
func checkRegister(h *History) []Violation {
	var found []Violation
	last := make(map[string]Access)
	for _, a := range h.Store {
		if !a.OK || !a.Write {
			continue
		}
		before := last[a.Name]
		if a.Base != before.Value {
			found = append(found, violation(a.At, "%q: %s/%d writes %d with token %d from %d; it was %d by then, by %s/%d with token %d",
				a.Name, a.Proc, a.Op, a.Value, a.Token, a.Base, before.Value, before.Proc, before.Op, before.Token))
		}
		last[a.Name] = a
	}
	return found
}
