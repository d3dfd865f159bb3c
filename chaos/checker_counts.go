package main

// checkCounts finds a node that counts more leases of a hold than were ever asked for:
// a command was counted twice (I4).
func checkCounts(h *History) []Violation {
	var found []Violation
	type op struct {
		proc string
		op   int64
	}
	nested := make(map[op][]*Call)
	first := make(map[string][]op) // of the holds of each tenure
	for _, c := range h.Calls {
		if c.Within > 0 {
			nested[op{c.Proc, c.Within}] = append(nested[op{c.Proc, c.Within}], c)
		}
		if c.granted() && c.Within == 0 {
			first[tenure(c.Hold)] = append(first[tenure(c.Hold)], op{c.Proc, c.Op})
		}
	}
	told := make(map[string]bool)
	for _, l := range h.Looks {
		for i, s := range l.Nodes {
			if !s.OK || s.Hold == "" || told[s.Hold] || isShared(l.Name) || isSemaphore(l.Name) { // of those who read, many have one hold on the nodes
				continue
			}
			asked := 1
			for _, o := range first[s.Hold] {
				so := 1
				for _, c := range nested[o] {
					if c.Invoke <= l.To {
						so++
					}
				}
				asked = max(asked, so)
			}
			if s.Count > asked {
				told[s.Hold] = true
				found = append(found, violation(l.To, "%q: n%d counts %d leases of hold %s, of which %d were asked for", l.Name, i, s.Count, s.Hold, asked))
			}
		}
	}
	return found
}
