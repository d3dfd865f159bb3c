package main

// checkTokens finds a hold whose token is not greater than that of an earlier one
// (I3). Holds that exclude each other are in the order in which Lock returned them, but
// for those that were over by then, as their process was stopped on the way, and those
// that the nodes were made to forget before Lock returned.
func checkTokens(h *History) []Violation {
	var found []Violation
	greatest := make(map[string]*Call)
	holds := make(map[string]*Call)
	tokens := make(map[string]map[int64]*Call)
	for _, c := range h.leases() {
		if isSemaphore(c.Name) {
			continue // each of its slots is judged
		}
		id := c.Name + " " + c.Hold // of a semaphore's hold, each slot is a name
		if first := holds[id]; first != nil {
			if first.Token != c.Token {
				found = append(found, violation(c.Return, "%q: hold %s has token %d at first and %d in %s",
					c.Name, c.Hold, first.Token, c.Token, c.id()))
			}
			continue
		}
		holds[id] = c
		if c.Reads { // it has that of who wrote last
			if before := greatest[c.Name]; before != nil && before.Token > c.Token && c.Return < h.end(c) && !h.crossed(before, c) {
				found = append(found, violation(c.Return, "%q: hold %s reads with token %d at %s, and token %d has written since %s",
					c.Name, c.Hold, c.Token, h.seconds(c.Return), before.Token, h.seconds(before.Return)))
			}
			continue
		}
		if tokens[c.Name] == nil {
			tokens[c.Name] = make(map[int64]*Call)
		}
		if other := tokens[c.Name][c.Token]; other != nil {
			found = append(found, violation(c.Return, "%q: token %d for hold %s, granted at %s, and for hold %s at %s",
				c.Name, c.Token, other.Hold, h.seconds(other.Return), c.Hold, h.seconds(c.Return)))
		}
		tokens[c.Name][c.Token] = c
		if before := greatest[c.Name]; before != nil && before.Token > c.Token && c.Return < h.end(c) && !h.crossed(before, c) {
			found = append(found, violation(c.Return, "%q: token %d for hold %s, granted at %s, after token %d for hold %s at %s",
				c.Name, c.Token, c.Hold, h.seconds(c.Return), before.Token, before.Hold, h.seconds(before.Return)))
		}
		if before := greatest[c.Name]; before == nil || c.Token > before.Token {
			greatest[c.Name] = c
		}
	}
	return found
}

// crossed tells whether b was asked for before Lock returned a, and a fault had the
// nodes forget b meanwhile: they may have granted it first.
func (h *History) crossed(a, b *Call) bool {
	return b.Start < a.Return && h.excuse(b.Start, b.Return) != nil
}
