package main

// checkShards finds what a shard of a Cluster that was away cost the others: a lease that was
// renewed and lost all the same, or a lock that could not be asked for, though its own shard had
// been well for a TTL.
func checkShards(h *History) []Violation {
	var found []Violation
	for _, c := range h.Calls {
		shard, ok := h.Shards[c.Name]
		switch {
		case !ok:
		case c.Refused && h.well(shard, c.Invoke-int64(h.Cell.TTL), c.Return):
			found = append(found, violation(c.Return, "%q: %s asked at %s and was told, though shard n%d was well: %s",
				c.Name, c.id(), h.seconds(c.Invoke), shard, c.Err))
		case c.granted() && c.Lost > 0 && !c.Fixed && h.well(shard, c.Lost-2*int64(h.Cell.TTL), c.Lost):
			found = append(found, violation(c.Lost, "%q: shard n%d was well, and %s", c.Name, shard, h.tell(c)))
		}
	}
	return found
}

// well tells whether nothing was wrong with a server between two moments.
func (h *History) well(server int, from, to int64) bool {
	for _, s := range h.ailing(server) {
		if s.from < to && from < s.to {
			return false
		}
	}
	return true
}
